package dev.hapax.store;

import java.time.Duration;

/** The bounds of every duration that is set: at least a millisecond, and small enough to be counted in nanoseconds. */
public final class Durations {
    private static final Duration MOST = Duration.ofDays(36_500);

    private Durations() {}

    /** @throws IllegalArgumentException unless it is between a millisecond and a hundred years */
    public static Duration requirePositive(Duration duration, String name) {
        if (duration.compareTo(Duration.ofMillis(1)) < 0 || duration.compareTo(MOST) > 0) {
            throw new IllegalArgumentException(
                    name + " is " + duration + "; between a millisecond and a hundred years is needed");
        }
        return duration;
    }
}
