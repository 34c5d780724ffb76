package dev.hapax.bench;

import java.time.Duration;
import java.util.List;

/**
 * How long and how often to measure.
 *
 * @param rounds how often each side runs; the sides take turns, so what else the machine does slows both down alike
 * @param again how many rounds are done again, at most, because other virtual machines took too much of the processors
 * @param round how long a round lasts
 * @param warmUp how long a figure's {@link WarmUp} may take
 * @param bounded how many operations a round has where it has a number of them instead
 * @param pools the pool sizes of which hand-written JDBC and the peers may choose their best
 * @param rows how many there are in a table that has grown
 * @param sustained how long the load lasts that watches for slow decay
 */
record Effort(
        int rounds,
        int again,
        Duration round,
        Duration warmUp,
        int bounded,
        List<Integer> pools,
        int rows,
        Duration sustained) {

    static final Effort FULL = new Effort(
            5,
            1,
            Duration.ofMillis(350),
            Duration.ofSeconds(6),
            5_000,
            List.of(64, 32, 16, 8),
            10_000_000,
            Duration.ofMinutes(3));
    static final Effort QUICK = new Effort(
            3, 0, Duration.ofMillis(90), Duration.ofSeconds(1), 1_000, List.of(32), 100_000, Duration.ofSeconds(3));

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

    /** For rounds that count for nothing, or only to choose among variants of a side. */
    Effort toWarmUp() {
        return new Effort(rounds, again, round.dividedBy(2), warmUp, bounded / 10, pools, rows, sustained);
    }

    Effort of(Figure figure) {
        return figure.bar().isPresent() ? this : toInform();
    }

    /** For figures that have no bar to meet. */
    Effort toInform() {
        return withRounds(Math.min(rounds, 3));
    }

    Effort withWarmUp(Duration longer) {
        return new Effort(rounds, again, round, longer, bounded, pools, rows, sustained);
    }

    Effort withRounds(int count) {
        return new Effort(count, again, round, warmUp, bounded, pools, rows, sustained);
    }
}
