package dev.hapax.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/** The turns of both sides, in pairs. */
record LatencyResult(Side ours, Side theirs) {

    /** One side with the pool size that it has chosen. */
    record Side(int poolSize, List<LatencyTurn> turns) {
        Side {
            turns = List.copyOf(turns);
        }

        /** Judged by more than half of the turns: one stall of the disk does not decide. */
        boolean isSustained() {
            long sustained = turns.stream().filter(LatencyTurn::isSustained).count();
            return 2 * sustained > turns.size();
        }

        private String describe(ToDoubleFunction<LatencyTurn> percentile) {
            return isSustained()
                    ? String.format(Locale.ROOT, "%.2f ms", median(LatencyTurn::isSustained, percentile))
                    : "only %s/s".formatted(Report.rate(median(turn -> true, LatencyTurn::perSecond)));
        }

        private double median(Predicate<LatencyTurn> which, ToDoubleFunction<LatencyTurn> value) {
            List<Double> values =
                    turns.stream().filter(which).mapToDouble(value).boxed().toList();
            return Measured.Spread.of(values).median();
        }
    }

    Measured p50(Figure figure) {
        return measured(figure, LatencyTurn::p50Millis);
    }

    Measured p99(Figure figure) {
        return measured(figure, LatencyTurn::p99Millis);
    }

    private Measured measured(Figure figure, ToDoubleFunction<LatencyTurn> percentile) {
        String mine = ours.describe(percentile);
        String others = theirs.describe(percentile);
        String against = "JDBC, pool of %d (ours %d)".formatted(theirs.poolSize, ours.poolSize);
        return ours.isSustained() && theirs.isSustained()
                ? new Measured(figure, ratios(percentile), mine, others, against)
                : Measured.withoutRatio(figure, ours.isSustained(), mine, others, against);
    }

    /**
     * Theirs over ours: above 1 ours is shorter. Only of pairs that both sides sustained; there is one at least,
     * because each side sustained more than half of its turns.
     */
    private List<Double> ratios(ToDoubleFunction<LatencyTurn> percentile) {
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < ours.turns.size(); i++) {
            LatencyTurn mine = ours.turns.get(i);
            LatencyTurn other = theirs.turns.get(i);
            if (mine.isSustained() && other.isSustained()) {
                ratios.add(percentile.applyAsDouble(other) / percentile.applyAsDouble(mine));
            }
        }
        return ratios;
    }
}
