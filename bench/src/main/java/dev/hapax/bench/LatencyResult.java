package dev.hapax.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** The turns of both sides, in pairs. */
record LatencyResult(Side ours, Side theirs) {

    /** One side with the pool size that it has chosen. */
    record Side(int poolSize, List<LatencyTurn> turns) {
        Side {
            turns = List.copyOf(turns);
        }

        /** Judged by the middle turn: one stall of the disk does not decide. */
        boolean isSustained() {
            long sustained = turns.stream().filter(LatencyTurn::isSustained).count();
            return 2 * sustained > turns.size();
        }

        double median(ToDoubleFunction<LatencyTurn> value) {
            return Measured.Spread.of(turns.stream().mapToDouble(value).boxed().toList())
                    .median();
        }

        private String told(ToDoubleFunction<LatencyTurn> percentile) {
            return isSustained()
                    ? String.format(Locale.ROOT, "%.2f ms", median(percentile))
                    : "only %s/s".formatted(Report.rate(median(LatencyTurn::perSecond)));
        }
    }

    Measured p50(Figure figure) {
        return measured(figure, LatencyTurn::p50Millis);
    }

    Measured p99(Figure figure) {
        return measured(figure, LatencyTurn::p99Millis);
    }

    private Measured measured(Figure figure, ToDoubleFunction<LatencyTurn> percentile) {
        String mine = ours.told(percentile);
        String others = theirs.told(percentile);
        String against = "JDBC, pool of %d (ours %d)".formatted(theirs.poolSize, ours.poolSize);
        return ours.isSustained() && theirs.isSustained()
                ? new Measured(figure, ratios(percentile), mine, others, against)
                : Measured.withoutRatio(figure, ours.isSustained(), mine, others, against);
    }

    /** Theirs over ours: above 1 ours is shorter. */
    private List<Double> ratios(ToDoubleFunction<LatencyTurn> percentile) {
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < ours.turns.size(); i++) {
            ratios.add(percentile.applyAsDouble(theirs.turns.get(i)) / percentile.applyAsDouble(ours.turns.get(i)));
        }
        return ratios;
    }
}
