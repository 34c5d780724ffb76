package dev.hapax.bench;

import java.time.Duration;
import java.util.List;

/**
 * How long and how often to measure.
 *
 * @param rounds how often each side runs; the sides take turns, so what else the machine does slows both down alike
 * @param again how many rounds are done again, at most, because other virtual machines took too much of the processors
 * @param round how long a round lasts
 * @param warmUp how long a figure's sides may take turns before anything counts, while code is still being compiled
 * @param bounded how many operations a round has where it has a number of them instead
 * @param floorPools the pool sizes of which hand-written JDBC may choose its best
 * @param rows how many there are in a table that has grown
 * @param sustained how long the load lasts that watches for slow decay
 */
record Effort(
        int rounds,
        int again,
        Duration round,
        Duration warmUp,
        int bounded,
        List<Integer> floorPools,
        int rows,
        Duration sustained) {

    static final Effort FULL = new Effort(
            5,
            1,
            Duration.ofMillis(350),
            Duration.ofSeconds(6),
            5_000,
            List.of(128, 64, 32, 16, 8, 4),
            10_000_000,
            Duration.ofMinutes(3));
    static final Effort QUICK = new Effort(
            3, 0, Duration.ofMillis(90), Duration.ofMillis(150), 1_000, List.of(32), 100_000, Duration.ofSeconds(3));

    boolean quick() {
        return equals(QUICK);
    }

    /** The pool sizes of which both sides may choose their best where latencies are compared. */
    List<Integer> latencyPools() {
        return quick() ? List.of(16) : List.of(64, 8);
    }

    /** How long a turn counts where latencies are compared: a percentile needs more operations than a rate. */
    Duration latencyTurn() {
        return round.multipliedBy(quick() ? 2 : 4);
    }

    Effort withRound(Duration longer) {
        return new Effort(rounds, again, longer, warmUp, bounded, floorPools, rows, sustained);
    }

    /** For figures that have no bar to meet. */
    Effort toInform() {
        return withRounds(Math.min(rounds, 3)).withWarmUp(warmUp.dividedBy(3));
    }

    Effort withWarmUp(Duration longer) {
        return new Effort(rounds, again, round, longer, bounded, floorPools, rows, sustained);
    }

    Effort withRounds(int count) {
        return new Effort(count, again, round, warmUp, bounded, floorPools, rows, sustained);
    }
}
