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
    private static final double MOST_STOLEN = 0.04;

    private static final Duration TO_BEGIN_WITH = Duration.ofMillis(100);

    /** Both sides' turns of one round. */
    private record Pair(Turns.Turn ours, Turns.Turn theirs) {

        static Pair take(Effort effort, Turns mine, Turns others, boolean oursFirst) throws Exception {
            Turns.Turn first = (oursFirst ? mine : others).take(effort);
            Turns.Turn second = (oursFirst ? others : mine).take(effort);
            return oursFirst ? new Pair(first, second) : new Pair(second, first);
        }

        Processors spent() {
            return ours.spent().plus(theirs.spent());
        }
    }

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
        return of(ours, List.of(theirs));
    }

    static Comparison of(Workload ours, List<Workload> theirs) {
        return new Comparison(ours, new ArrayList<>(theirs));
    }

    Measured measure(Figure figure, Bench bench) throws Exception {
        Effort effort =
                figure.bar().isPresent() ? bench.effort() : bench.effort().toInform();
        Workload other = theirs.size() == 1 ? theirs.get(0) : fastest(bench);
        bench.say("warming up until the compiler rests and neither side gets faster");
        warmUp(effort, List.of(ours, other));
        Turns mine = new Turns(ours);
        Turns others = new Turns(other);
        int again = effort.again();
        for (int round = 1; round <= effort.rounds(); round++) {
            Pair pair = Pair.take(effort, mine, others, round % 2 == 1); // nobody always comes first
            bench.say("round %d of %d: %s, %s"
                    .formatted(round, effort.rounds(), mine.told(pair.ours()), others.told(pair.theirs())));
            if (isSpoilt(pair.spent()) && again-- > 0) {
                bench.say("again, because other machines took %.0f %% of the processors"
                        .formatted(100 * pair.spent().shareStolen()));
                round--;
            } else {
                mine.keep(pair.ours());
                others.keep(pair.theirs());
            }
        }
        return Measured.rates(figure, mine.rates(), others.rates(), other.name())
                .spending(mine.perOperation(), others.perOperation());
    }

    /** Whether other virtual machines took too much of the processors' time for a round to count. */
    static boolean isSpoilt(Processors spent) {
        return spent.shareStolen() > MOST_STOLEN;
    }

    /** After a turn of each for the compiler's sake. */
    private Workload fastest(Bench bench) throws Exception {
        Effort effort = bench.effort();
        warmUp(effort.withWarmUp(effort.warmUp().dividedBy(4)), List.of(theirs.get(theirs.size() / 2)));
        bench.say("finding the fastest of %d".formatted(theirs.size()));
        record Rate(Workload workload, double perSecond) {}
        List<Rate> rates = new ArrayList<>();
        for (Workload workload : theirs) {
            double unused = workload.round(effort.withRound(TO_BEGIN_WITH));
            rates.add(new Rate(workload, workload.round(effort)));
        }
        Rate best =
                rates.stream().max(Comparator.comparingDouble(Rate::perSecond)).orElseThrow();
        bench.say("the fastest of %d is %s"
                .formatted(theirs.size(), best.workload().name()));
        closeAllBut(best.workload());
        return best.workload();
    }

    /** Java's collector looks at every thread, even one that waits: those of nobody's turn must not be there. */
    private void closeAllBut(Workload kept) throws Exception {
        for (Workload workload : theirs) {
            if (workload != kept) {
                workload.close();
            }
        }
        theirs.removeIf(workload -> workload != kept);
    }

    /**
     * Until the compiler rests and nobody gets faster, or time is up. Between the rounds the compiler has the
     * processors for itself: beside a hundred callers it would get a hundredth of them.
     */
    static void warmUp(Effort effort, List<Workload> workloads) throws Exception {
        CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
        long until = System.nanoTime() + effort.warmUp().toNanos();
        double[] best = new double[workloads.size()];
        boolean settled = false;
        while (!settled && until - System.nanoTime() > 0) {
            long began = System.nanoTime();
            long compiled = compiler.getTotalCompilationTime();
            settled = true;
            Thread.sleep(effort.round().toMillis());
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
