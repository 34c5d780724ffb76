package dev.hapax.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * One caller with one connection beside the same with hand-written JDBC, which does the same two commits: the claim and
 * the result. How many each side does is counted, not assumed.
 *
 * <p>The two sides take turns operation by operation, and the middle of a round's times counts: a single caller waits
 * for the disk most of the time, and which side meets its slowest moments is chance.
 */
final class OneCaller {
    private static final int CONNECTIONS = 1;
    private static final int FEW = 4;
    private static final int COUNTED = 200;

    private OneCaller() {}

    static Measured measure(Figure figure, Bench bench) throws Exception {
        Effort effort = bench.effort();
        bench.warmUpFreshOperations();
        List<Double> mine = new ArrayList<>();
        List<Double> theirs = new ArrayList<>();
        try (Operations operations = Operations.on(bench.lab(), CONNECTIONS, Lab.WARM);
                Floor floor = new Floor(bench.lab(), CONNECTIONS)) {
            bench.warmUp(WarmUp.of(effort), () -> {
                Alternation both = Alternation.of(operations::fresh, floor::fresh, effort.round());
                return new double[] {both.ours(), both.theirs()};
            });
            for (int round = 1; round <= effort.rounds(); round++) {
                Alternation both = Alternation.of(
                        operations::fresh, floor::fresh, effort.round().multipliedBy(4));
                mine.add(both.ours());
                theirs.add(both.theirs());
                bench.say("round %d of %d".formatted(round, effort.rounds()));
            }
            return Measured.rates(figure, mine, theirs, commits(bench.lab(), operations, floor));
        }
    }

    /** A few callers of each side go first, since one alone takes minutes to get its code compiled. */
    static void warmUp(Bench bench) throws Exception {
        Effort effort = bench.effort();
        bench.say("having the code compiled that both sides share");
        try (Workload few = FreshFigures.ours(bench.lab(), FEW);
                Workload others = FreshFigures.floor(bench.lab(), FEW, Figures.POOL)) {
            Effort longer = effort.withWarmUp(effort.warmUp().multipliedBy(2));
            boolean unused = WarmUp.of(longer).run(Comparison.rounds(longer, few, others));
        }
    }

    private static String commits(Lab lab, FreshOperations ours, FreshOperations theirs) throws Exception {
        return "JDBC, %.1f commits each (ours %.1f)".formatted(commits(lab, theirs), commits(lab, ours));
    }

    private static double commits(Lab lab, FreshOperations operations) throws Exception {
        long before = lab.nextTransactionId();
        for (int i = 0; i < COUNTED; i++) {
            operations.fresh();
        }
        return (double) (lab.nextTransactionId() - before) / COUNTED;
    }

    /** How many operations a second the middle one of each side's times comes to. */
    private record Alternation(double ours, double theirs) {

        static Alternation of(Callers.Step ours, Callers.Step theirs, Duration time) throws Exception {
            List<Double> mine = new ArrayList<>();
            List<Double> others = new ArrayList<>();
            long until = System.nanoTime() + time.toNanos();
            while (until - System.nanoTime() > 0) {
                if (mine.size() % 2 == 0) { // nobody always comes first
                    mine.add(rate(ours));
                    others.add(rate(theirs));
                } else {
                    others.add(rate(theirs));
                    mine.add(rate(ours));
                }
            }
            return new Alternation(
                    Measured.Spread.of(mine).median(),
                    Measured.Spread.of(others).median());
        }

        private static double rate(Callers.Step step) throws Exception {
            long began = System.nanoTime();
            step.run();
            return 1e9 / (System.nanoTime() - began);
        }
    }
}
