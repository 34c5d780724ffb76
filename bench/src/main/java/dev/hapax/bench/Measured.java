package dev.hapax.bench;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A figure and what came out.
 *
 * @param ratios ours over theirs, round by round: what slows the machine down for a while slows both down
 * @param ours what was measured, in the unit of the figure, as people read it
 * @param theirs the same of the other side
 * @param against the name of the other side
 * @param spending empty where it says nothing
 */
record Measured(
        Figure figure,
        List<Double> ratios,
        String ours,
        String theirs,
        String against,
        @Nullable Spending spending) {

    /** Where the processors' time went, per operation. */
    record Spending(Processors ours, Processors theirs) {}

    Measured(Figure figure, List<Double> ratios, String ours, String theirs, String against) {
        this(figure, ratios, ours, theirs, against, null);
    }

    static Measured rates(Figure figure, List<Double> ours, List<Double> theirs, String against) {
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < ours.size(); i++) {
            ratios.add(ours.get(i) / theirs.get(i));
        }
        return new Measured(
                figure,
                ratios,
                Report.rate(Spread.of(ours).median()) + "/s",
                Report.rate(Spread.of(theirs).median()) + "/s",
                against);
    }

    Measured spending(Processors mine, Processors others) {
        boolean known = !mine.equals(Processors.NONE);
        return new Measured(figure, ratios, ours, theirs, against, known ? new Spending(mine, others) : null);
    }

    Spread ratio() {
        return Spread.of(ratios);
    }

    boolean hasBar() {
        return figure.bar().isPresent();
    }

    boolean meetsBar() {
        return ratio().median() >= figure.bar().orElse(0);
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
