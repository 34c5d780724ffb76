package dev.hapax.bench;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** How long fresh operations take, beside hand-written JDBC under the same load. */
final class LatencyFigures {
    private static final int CALLERS = 512;
    private static final int MOST_UNDER_WAY = 256;

    private static final int MODERATE = 500;
    private static final int HIGH = 2_000;

    static final List<Figure> ALL = List.of(
            Figure.of(
                    "p99-512-callers",
                    "99th percentile of fresh operations, 512 callers",
                    "that of hand-written JDBC, the same 512 callers and choice of pools; above 1 ours is shorter",
                    1,
                    LatencyFigures::callers),
            fixedRate(MODERATE, "p50", 0.9, LatencyResult::p50),
            fixedRate(MODERATE, "p99", 0.9, LatencyResult::p99),
            fixedRate(HIGH, "p50", 1, LatencyResult::p50),
            fixedRate(HIGH, "p99", 1, LatencyResult::p99));

    private LatencyFigures() {}

    /** Whether a quick run measures it: one rate is enough there, the higher one. */
    static boolean isQuick(Figure figure) {
        return !figure.name().startsWith("fixed-rate-" + MODERATE);
    }

    private interface Percentile {
        Measured of(LatencyResult result, Figure figure);
    }

    private static Figure fixedRate(int perSecond, String name, double bar, Percentile percentile) {
        return Figure.of(
                "fixed-rate-%d-%s".formatted(perSecond, name),
                "%s of fresh operations that arrive at %,d a second, from when each was due".formatted(name, perSecond),
                "that of hand-written JDBC, the same arrivals and choice of pools; above 1 ours is shorter",
                bar,
                (figure, bench) -> percentile.of(bench.fixedRates().at(perSecond), figure));
    }

    private static Measured callers(Figure figure, Bench bench) throws Exception {
        return new LatencyComparison(bench, operations -> LatencyLoad.closedLoop(CALLERS, operations))
                .measure()
                .p99(figure);
    }

    /** What came out for each rate: two figures read it, and the first one that asks measures it. */
    static final class FixedRates {
        private final Bench bench;
        private final Map<Integer, LatencyResult> byRate = new HashMap<>();

        FixedRates(Bench bench) {
            this.bench = bench;
        }

        LatencyResult at(int perSecond) throws Exception {
            LatencyResult known = byRate.get(perSecond);
            if (known == null) {
                known = new LatencyComparison(
                                bench, operations -> LatencyLoad.openLoop(perSecond, MOST_UNDER_WAY, operations))
                        .measure();
                byRate.put(perSecond, known);
            }
            return known;
        }
    }
}
