package dev.hapax.bench;

import java.time.Duration;
import java.util.List;

/**
 * How long and how often to measure.
 *
 * @param rounds how often each side runs; the sides take turns
 * @param round how long a round lasts
 * @param warmUp how long each side runs before anything counts
 * @param bounded how many operations a round has where it has a number of them instead
 * @param floorPools the pool sizes of which the floor may choose its best
 */
record Effort(int rounds, Duration round, Duration warmUp, int bounded, List<Integer> floorPools) {
    static final Effort FULL =
            new Effort(7, Duration.ofMillis(1_500), Duration.ofSeconds(3), 15_000, List.of(1, 2, 4, 8, 16, 32, 64));
    static final Effort QUICK = new Effort(3, Duration.ofMillis(700), Duration.ofMillis(1_000), 4_000, List.of(8, 32));

    Effort toWarmUp() {
        return new Effort(1, warmUp, warmUp, bounded, floorPools);
    }
}
