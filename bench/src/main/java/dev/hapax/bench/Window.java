package dev.hapax.bench;

import java.time.Duration;

/**
 * The part of a round that counts. Callers begin before it and go on to its end: what they do while all of them have
 * just begun, or while the last ones are still busy, says nothing about a load that lasts.
 *
 * @param from on this process's own clock, in nanoseconds
 */
record Window(long from, long until) {
    private static final Duration LONGEST_RUN_IN = Duration.ofMillis(250);

    /** So long, after a run-in that begins now. */
    static Window lasting(Duration time) {
        long from = System.nanoTime() + runIn(time).toNanos();
        return new Window(from, from + time.toNanos());
    }

    /** How long callers are under way before they count for so long. */
    static Duration runIn(Duration time) {
        Duration half = time.dividedBy(2);
        return half.compareTo(LONGEST_RUN_IN) < 0 ? half : LONGEST_RUN_IN;
    }

    boolean isOver(long now) {
        return now - until >= 0;
    }

    /** Whether an operation that ended then counts. */
    boolean counts(long end) {
        return end - from >= 0 && !isOver(end);
    }

    double perSecond(long operations) {
        return operations * 1e9 / (until - from);
    }
}
