package dev.hapax.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Compares the latencies of Hapax with those of hand-written JDBC under the same load: both have the same pool sizes to
 * choose from, and take turns.
 */
final class LatencyComparison {
    private final Bench bench;
    private final Loading loading;

    /** What either side is put under. */
    interface Loading {
        LatencyLoad with(FreshOperations operations) throws Exception;
    }

    /** A side under load, and what one turn of it came to. */
    private record Candidate(int poolSize, LatencyLoad load, LatencyTurn turn) implements AutoCloseable {
        /** At a fixed rate only the latencies tell who is faster. */
        double speed(Duration counted) throws Exception {
            return 1 / load.run(counted).p50Millis();
        }

        @Override
        public void close() throws Exception {
            load.close();
        }
    }

    LatencyComparison(Bench bench, Loading loading) {
        this.bench = bench;
        this.loading = loading;
    }

    LatencyResult measure() throws Exception {
        Lab lab = bench.lab();
        Duration counted = bench.effort().latencyTurn();
        bench.warmUpFreshOperations();
        try (Candidate ours = best("hapax", counted, pool -> Operations.on(lab, pool, Lab.WARM));
                Candidate theirs = best("JDBC", counted, pool -> new Floor(lab, pool))) {
            bench.warmUp(WarmUp.of(bench.effort()), () ->
                    new double[] {ours.speed(counted.dividedBy(4)), theirs.speed(counted.dividedBy(4))});
            return takeTurns(ours, theirs, counted);
        }
    }

    /** Each pool size has one turn; only the better one of two stays open. */
    private Candidate best(String name, Duration counted, FreshOperations.Opening opening) throws Exception {
        @Nullable Candidate best = null;
        for (int poolSize : bench.effort().latencyPools()) {
            LatencyLoad load = loading.with(opening.open(poolSize));
            Candidate candidate = new Candidate(poolSize, load, load.run(counted.dividedBy(2)));
            boolean better = best == null || candidate.turn.isBetterThan(best.turn);
            @Nullable Candidate worse = better ? best : candidate;
            best = better ? candidate : best;
            if (worse != null) {
                worse.close();
            }
        }
        Candidate found = Objects.requireNonNull(best, "there is always a pool size");
        bench.say("%s with a pool of %d".formatted(name, found.poolSize));
        return found;
    }

    private LatencyResult takeTurns(Candidate ours, Candidate theirs, Duration counted) throws Exception {
        Effort effort = bench.effort();
        List<LatencyTurn> mine = new ArrayList<>();
        List<LatencyTurn> others = new ArrayList<>();
        int again = effort.again();
        while (mine.size() < effort.rounds()) {
            Processors before = Processors.now();
            boolean oursFirst = mine.size() % 2 == 0; // nobody always comes first
            LatencyTurn first = (oursFirst ? ours : theirs).load.run(counted);
            LatencyTurn second = (oursFirst ? theirs : ours).load.run(counted);
            if (!Comparison.isSpoilt(Processors.now().since(before)) || again-- <= 0) {
                mine.add(oursFirst ? first : second);
                others.add(oursFirst ? second : first);
                bench.say("round %d of %d: hapax %s, JDBC %s"
                        .formatted(mine.size(), effort.rounds(), describe(mine), describe(others)));
            }
        }
        return new LatencyResult(
                new LatencyResult.Side(ours.poolSize, mine), new LatencyResult.Side(theirs.poolSize, others));
    }

    private static String describe(List<LatencyTurn> turns) {
        return turns.get(turns.size() - 1).describe();
    }
}
