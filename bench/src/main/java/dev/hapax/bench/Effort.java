package dev.hapax.bench;

import java.time.Duration;
import java.util.List;

/**
 * How long and how often to measure. Many short turns beat a few long ones: what else the machine does then slows both
 * sides down alike.
 *
 * @param rounds how often each side runs; the sides take turns
 * @param round how long a round lasts
 * @param warmUp how long a figure's sides may take turns before anything counts, while code is still being compiled
 * @param bounded how many operations a round has where it has a number of them instead
 * @param floorPools the pool sizes of which the floor may choose its best
 */
record Effort(int rounds, Duration round, Duration warmUp, int bounded, List<Integer> floorPools) {
    static final Effort FULL =
            new Effort(30, Duration.ofMillis(200), Duration.ofSeconds(20), 6_000, List.of(1, 2, 4, 8, 16, 32, 64));
    static final Effort QUICK = new Effort(5, Duration.ofMillis(250), Duration.ofSeconds(2), 1_500, List.of(8, 32));

    /** The same, with each round divided by {@code turns}. */
    Effort dividedBy(int turns) {
        return new Effort(rounds, round.dividedBy(turns), warmUp, bounded, floorPools);
    }
}
