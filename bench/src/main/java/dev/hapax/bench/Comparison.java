package dev.hapax.bench;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Measures a figure by letting two sides take turns, once Java has compiled what they use.
 *
 * <p>The compiler takes its time from the same processors as the load: measured too early, a figure tells how fast Java
 * compiles, and the side with more code loses.
 *
 * @param theirs variants of the other side, of which the fastest counts
 */
record Comparison(Workload ours, List<Workload> theirs) implements AutoCloseable {
    private static final double AT_REST = 0.02;
    private static final double FASTER = 1.05;

    /** Opens the two sides. */
    interface Opening {
        Comparison open(Lab lab, Effort effort) throws Exception;
    }

    static Figure.Measuring by(Opening opening) {
        return (figure, bench) -> {
            try (Comparison comparison = opening.open(bench.lab(), bench.effort())) {
                return comparison.measure(figure, bench);
            }
        };
    }

    static Comparison of(Workload ours, Workload theirs) {
        return new Comparison(ours, List.of(theirs));
    }

    static Comparison of(Workload ours, List<Workload> theirs) {
        return new Comparison(ours, theirs);
    }

    Measured measure(Figure figure, Bench bench) throws Exception {
        Effort effort =
                figure.bar().isPresent() ? bench.effort() : bench.effort().toInform();
        Workload other = theirs.size() == 1 ? theirs.get(0) : fastest(bench);
        bench.say("warming up until the compiler rests and neither side gets faster");
        warmUp(effort, List.of(ours, other));
        List<Double> mine = new ArrayList<>();
        List<Double> others = new ArrayList<>();
        for (int round = 1; round <= effort.rounds(); round++) {
            takeTurns(effort, other, mine, others);
            bench.say("round %d of %d: %s %s/s, %s %s/s"
                    .formatted(
                            round,
                            effort.rounds(),
                            ours.name(),
                            Report.rate(mine.get(round - 1)),
                            other.name(),
                            Report.rate(others.get(round - 1))));
        }
        return Measured.rates(figure, mine, others, other.name());
    }

    private void takeTurns(Effort effort, Workload other, List<Double> mine, List<Double> others) throws Exception {
        if (mine.size() % 2 == 0) { // nobody always comes first
            mine.add(ours.round(effort));
            others.add(other.round(effort));
        } else {
            others.add(other.round(effort));
            mine.add(ours.round(effort));
        }
    }

    /** After a turn of each for the compiler's sake. */
    private Workload fastest(Bench bench) throws Exception {
        Effort effort = bench.effort();
        warmUp(effort, List.of(theirs.get(theirs.size() / 2)));
        bench.say("finding the fastest of %d".formatted(theirs.size()));
        record Rate(Workload workload, double perSecond) {}
        List<Rate> rates = new ArrayList<>();
        for (Workload workload : theirs) {
            double unused = workload.round(effort);
            rates.add(new Rate(workload, workload.round(effort)));
        }
        Rate best =
                rates.stream().max(Comparator.comparingDouble(Rate::perSecond)).orElseThrow();
        bench.say("the fastest of %d is %s"
                .formatted(theirs.size(), best.workload().name()));
        return best.workload();
    }

    /** Until the compiler rests and nobody gets faster, or time is up. */
    static void warmUp(Effort effort, List<Workload> workloads) throws Exception {
        CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
        long until = System.nanoTime() + effort.warmUp().toNanos();
        double[] best = new double[workloads.size()];
        boolean settled = false;
        while (!settled && until - System.nanoTime() > 0) {
            long began = System.nanoTime();
            long compiled = compiler.getTotalCompilationTime();
            settled = true;
            for (int i = 0; i < best.length; i++) {
                double rate = workloads.get(i).round(effort);
                settled &= rate < FASTER * best[i];
                best[i] = Math.max(best[i], rate);
            }
            long millis = Duration.ofNanos(System.nanoTime() - began).toMillis();
            settled &= compiler.getTotalCompilationTime() - compiled < AT_REST * millis;
        }
    }

    @Override
    public void close() throws Exception {
        ours.close();
        for (Workload workload : theirs) {
            workload.close();
        }
    }
}
