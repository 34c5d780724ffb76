package dev.hapax.bench;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Measures a figure by letting two sides take turns, once Java has compiled what they use.
 *
 * <p>The compiler takes its time from the same processors as the load: measured too early, a figure tells how fast Java
 * compiles, and the side with more code loses.
 */
final class Comparison implements AutoCloseable {
    private static final double AT_REST = 0.02;
    private static final double FASTER = 1.05;
    private static final double MOST_STOLEN = 0.04;

    private static final Duration TO_BEGIN_WITH = Duration.ofMillis(100);

    private final Workload ours;
    private final List<Variant> variants;
    private @Nullable Workload theirs;

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

    /** One of several ways for the other side, of which the fastest counts. */
    interface Variant {
        Workload open() throws Exception;
    }

    /** Opens the two sides. */
    interface Opening {
        Comparison open(Lab lab, Effort effort) throws Exception;
    }

    private Comparison(Workload ours, @Nullable Workload theirs, List<Variant> variants) {
        this.ours = ours;
        this.theirs = theirs;
        this.variants = variants;
    }

    static Figure.Measuring by(Opening opening) {
        return (figure, bench) -> {
            try (Comparison comparison = opening.open(bench.lab(), bench.effort())) {
                return comparison.measure(figure, bench);
            }
        };
    }

    static Comparison of(Workload ours, Workload theirs) {
        return new Comparison(ours, theirs, List.of());
    }

    static Comparison withFastest(Workload ours, List<Variant> theirs) {
        return new Comparison(ours, null, theirs);
    }

    Measured measure(Figure figure, Bench bench) throws Exception {
        Effort effort =
                figure.bar().isPresent() ? bench.effort() : bench.effort().toInform();
        Workload other = theirs == null ? fastest(bench) : theirs;
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

    /**
     * Each has its turn alone, the first one after a while for the compiler's sake: Java's collector looks at every
     * thread, even one that waits, so those of nobody's turn must not be there.
     */
    private Workload fastest(Bench bench) throws Exception {
        if (variants.size() == 1) {
            theirs = variants.get(0).open();
            return theirs;
        }
        Effort effort = bench.effort();
        bench.say("finding the fastest of %d".formatted(variants.size()));
        double most = 0;
        for (Variant variant : variants) {
            Workload candidate = variant.open();
            if (theirs == null) {
                warmUp(effort.withWarmUp(effort.warmUp().dividedBy(4)), List.of(candidate));
            }
            double unused = candidate.round(effort.withRound(TO_BEGIN_WITH));
            double rate = candidate.round(effort);
            Workload slower = rate > most ? theirs : candidate;
            if (rate > most) {
                most = rate;
                theirs = candidate;
            }
            if (slower != null) {
                slower.close();
            }
        }
        Workload fastest = Objects.requireNonNull(theirs, "there is always one");
        bench.say("the fastest of %d is %s".formatted(variants.size(), fastest.name()));
        return fastest;
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
        if (theirs != null) {
            theirs.close();
        }
    }
}
