package dev.hapax.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A figure and what came out.
 *
 * @param ratios ours over theirs, round by round: what slows the machine down for a while slows both down; empty where
 *     there is nothing to divide, because a side did not sustain the load
 * @param ours what was measured, in the unit of the figure, as people read it
 * @param theirs the same of the other side
 * @param against the name of the other side
 * @param sustained whether our side sustained the load, which is all there is to judge without ratios
 * @param spending empty where it says nothing
 */
record Measured(
        Figure figure,
        List<Double> ratios,
        String ours,
        String theirs,
        String against,
        boolean sustained,
        @Nullable Spending spending) {

    /** Where the processors' time went, per operation. */
    record Spending(Processors ours, Processors theirs) {}

    Measured(Figure figure, List<Double> ratios, String ours, String theirs, String against) {
        this(figure, ratios, ours, theirs, against, true, null);
    }

    /** For a load that a side did not sustain. */
    static Measured withoutRatio(Figure figure, boolean sustained, String ours, String theirs, String against) {
        return new Measured(figure, List.of(), ours, theirs, against, sustained, null);
    }

    /** What a rate is told as. */
    enum Unit {
        PER_SECOND {
            @Override
            String tell(double rate) {
                return Report.rate(rate) + "/s";
            }
        },
        /** For the time that one of them takes. */
        MILLIS {
            @Override
            String tell(double rate) {
                return String.format(Locale.ROOT, "%.2f ms", 1_000 / rate);
            }
        };

        abstract String tell(double rate);
    }

    static Measured rates(Figure figure, List<Double> ours, List<Double> theirs, String against) {
        return of(figure, Unit.PER_SECOND, ours, theirs, against);
    }

    static Measured of(Figure figure, Unit unit, List<Double> ours, List<Double> theirs, String against) {
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < ours.size(); i++) {
            ratios.add(ours.get(i) / theirs.get(i));
        }
        return new Measured(
                figure,
                ratios,
                unit.tell(Spread.of(ours).median()),
                unit.tell(Spread.of(theirs).median()),
                against);
    }

    Measured spending(Processors mine, Processors others) {
        boolean known = !mine.equals(Processors.NONE);
        return new Measured(
                figure, ratios, ours, theirs, against, sustained, known ? new Spending(mine, others) : null);
    }

    boolean hasRatio() {
        return !ratios.isEmpty();
    }

    /** Only where there is one. */
    Spread ratio() {
        return Spread.of(ratios);
    }

    boolean hasBar() {
        return figure.bar().isPresent();
    }

    boolean meetsBar() {
        return hasRatio() ? ratio().median() >= figure.bar().orElse(0) : sustained;
    }

    /** The middle and the ends of some numbers. */
    record Spread(double min, double median, double max) {
        static Spread of(List<Double> values) {
            List<Double> sorted = values.stream().sorted().toList();
            int middle = sorted.size() / 2;
            double median =
                    sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
            return new Spread(sorted.get(0), median, sorted.get(sorted.size() - 1));
        }
    }
}
