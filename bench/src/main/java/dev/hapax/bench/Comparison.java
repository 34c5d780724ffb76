package dev.hapax.bench;

import dev.hapax.bench.Measured.Unit;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Measures a figure by letting two sides take turns, once both have warmed up. */
final class Comparison implements AutoCloseable {
    private static final double MOST_STOLEN = 0.04;

    private final Workload ours;
    private final List<Variant> variants;
    private Unit unit = Unit.PER_SECOND;
    private WarmUp.@Nullable Compilers compilers;
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

    /** The other side with a pool of so many connections. */
    interface PoolVariant {
        Workload open(int poolSize) throws Exception;
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

    /** Against whichever pool size is the fastest for the other side, none of them larger than its callers are many. */
    static Comparison withFastestPool(Workload ours, Effort effort, int callers, PoolVariant theirs) {
        return withFastest(
                ours,
                effort.pools().stream()
                        .map(pool -> Math.min(pool, callers))
                        .distinct()
                        .<Variant>map(pool -> () -> theirs.open(pool))
                        .toList());
    }

    Comparison in(Unit unit) {
        this.unit = unit;
        return this;
    }

    /** For sides whose code runs in other processes. */
    Comparison compiledBy(WarmUp.Compilers compilers) {
        this.compilers = compilers;
        return this;
    }

    Measured measure(Figure figure, Bench bench) throws Exception {
        return measure(figure, bench, bench.effort().of(figure));
    }

    Measured measure(Figure figure, Bench bench, Effort effort) throws Exception {
        Workload other = theirs == null ? fastest(bench, effort) : theirs;
        WarmUp warmUp = compilers == null ? WarmUp.of(effort) : WarmUp.of(effort, compilers);
        bench.warmUp(warmUp, rounds(effort, ours, other));
        Turns mine = new Turns(ours);
        Turns others = new Turns(other);
        int again = effort.again();
        for (int round = 1; round <= effort.rounds(); round++) {
            Pair pair = Pair.take(effort, mine, others, round % 2 == 1); // nobody always comes first
            bench.say("round %d of %d: %s, %s"
                    .formatted(round, effort.rounds(), mine.told(pair.ours(), unit), others.told(pair.theirs(), unit)));
            if (isSpoilt(pair.spent()) && again-- > 0) {
                bench.say("again, because other machines took %.0f %% of the processors"
                        .formatted(100 * pair.spent().shareStolen()));
                round--;
            } else {
                mine.keep(pair.ours());
                others.keep(pair.theirs());
            }
        }
        Measured measured = Measured.of(figure, unit, mine.rates(), others.rates(), other.name());
        return unit == Unit.PER_SECOND ? measured.spending(mine.perOperation(), others.perOperation()) : measured;
    }

    /** Whether other virtual machines took too much of the processors' time for a round to count. */
    static boolean isSpoilt(Processors spent) {
        return spent.shareStolen() > MOST_STOLEN;
    }

    /**
     * Each has two short turns alone, the first one after a warm-up: Java's collector looks at every thread, even one
     * that waits, so those of nobody's turn must not be there.
     */
    private Workload fastest(Bench bench, Effort effort) throws Exception {
        if (variants.size() == 1) {
            theirs = variants.get(0).open();
            return theirs;
        }
        bench.say("finding the fastest of %d".formatted(variants.size()));
        Effort trial = effort.toWarmUp();
        double most = 0;
        for (Variant variant : variants) {
            Workload candidate = variant.open();
            if (theirs == null) {
                boolean unused = WarmUp.of(effort.withWarmUp(effort.warmUp().dividedBy(2)))
                        .run(rounds(effort, candidate));
            }
            double rate = Math.max(candidate.round(trial), candidate.round(trial));
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

    /** Rounds of a warm-up, in which these take turns. */
    static WarmUp.Round rounds(Effort effort, Workload... workloads) {
        Effort shorter = effort.toWarmUp();
        return () -> {
            double[] rates = new double[workloads.length];
            for (int i = 0; i < rates.length; i++) {
                rates[i] = workloads[i].round(shorter);
            }
            return rates;
        };
    }

    @Override
    public void close() throws Exception {
        ours.close();
        if (theirs != null) {
            theirs.close();
        }
    }
}
