package dev.hapax.bench;

import java.time.Duration;

/**
 * When the operations of an open-loop turn are due: at equal intervals, fixed before the turn begins, whatever becomes
 * of the operations before.
 *
 * @param perSecond the rate
 * @param runIn how long operations arrive before they count
 * @param counted how long they count after that
 */
record ArrivalSchedule(int perSecond, Duration runIn, Duration counted) {
    private static final long SECOND = 1_000_000_000;

    ArrivalSchedule {
        if (perSecond < 1 || runIn.isNegative() || counted.isNegative() || counted.isZero()) {
            throw new IllegalArgumentException("not a schedule: %d/s, %s and %s".formatted(perSecond, runIn, counted));
        }
    }

    /** Counts for so long, after a run-in. */
    static ArrivalSchedule of(int perSecond, Duration counted) {
        return new ArrivalSchedule(perSecond, Window.runIn(counted), counted);
    }

    /** How many operations arrive. */
    int arrivals() {
        return Math.toIntExact(end() * perSecond / SECOND);
    }

    /**
     * How many nanoseconds after the beginning of the turn an operation is due; computed anew, so it does not drift.
     */
    long due(int arrival) {
        return arrival * SECOND / perSecond;
    }

    /** Whether a moment, in nanoseconds after the beginning of the turn, lies in the part that counts. */
    boolean counts(long nanos) {
        return nanos >= runIn.toNanos() && nanos < end();
    }

    /** The end of the turn, in nanoseconds after its beginning. */
    long end() {
        return runIn.plus(counted).toNanos();
    }
}
