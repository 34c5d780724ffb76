package dev.hapax.messaging;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How long a message waits before it is tried again: doubled with every attempt, with a jitter of a fifth, so that
 * messages that failed together are not tried again together.
 *
 * @param first after the first attempt
 * @param longest however many attempts there were
 */
public record Backoff(Duration first, Duration longest) {
    private static final double SPREAD = 0.2;

    public Backoff {
        if (first.compareTo(Duration.ofMillis(1)) < 0) {
            throw new IllegalArgumentException("the first delay is " + first + "; at least a millisecond is needed");
        }
        if (longest.compareTo(first) < 0 || longest.compareTo(Duration.ofDays(1)) > 0) {
            throw new IllegalArgumentException("the longest delay is %s; between the first one, %s, and a day is needed"
                    .formatted(longest, first));
        }
    }

    /** From half a second to a minute. */
    public static Backoff defaults() {
        return new Backoff(Duration.ofMillis(500), Duration.ofMinutes(1));
    }

    /** @param attempt 1, 2, 3… */
    public Duration after(int attempt) {
        int doublings = Math.min(Math.max(attempt, 1) - 1, 30);
        long millis = Math.min(first.toMillis() << doublings, longest.toMillis());
        double factor = 1 + SPREAD * (2 * ThreadLocalRandom.current().nextDouble() - 1);
        return Duration.ofMillis(Math.min(Math.max(1, Math.round(millis * factor)), longest.toMillis()));
    }
}
