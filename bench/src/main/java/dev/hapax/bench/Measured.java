package dev.hapax.bench;

import java.util.List;
import java.util.stream.IntStream;

/**
 * A figure and what came out.
 *
 * @param ours operations per second, round by round
 * @param theirs the same of the fastest of the others
 * @param against the name of that one
 */
record Measured(Figure figure, List<Double> ours, List<Double> theirs, String against) {

    /** Round by round, so that what slows the machine down for a while slows both down. */
    Spread ratio() {
        return Spread.of(IntStream.range(0, ours.size())
                .mapToObj(i -> ours.get(i) / theirs.get(i))
                .toList());
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
