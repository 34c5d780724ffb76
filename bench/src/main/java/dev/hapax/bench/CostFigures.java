package dev.hapax.bench;

import dev.hapax.bench.micro.Cost;
import dev.hapax.bench.micro.InFlightMemory;
import dev.hapax.bench.micro.Micro;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** What the engine costs by itself. A ratio here is what is allowed over what it takes. */
final class CostFigures {
    private static final double MOST_NANOS = 2_000;
    private static final double MOST_BYTES = 1_000;
    private static final double MOST_HEAP = 300e6;

    static final List<Figure> ALL = List.of(
            Figure.of(
                    "engine-time",
                    "time of the engine per operation, one thread, beyond the memory store's own",
                    "2 µs",
                    1,
                    (figure, bench) -> cost(figure, bench, MOST_NANOS, "ns", Cost::nanos)),
            Figure.of(
                    "engine-garbage",
                    "garbage of the engine per operation, one thread, beyond the memory store's own",
                    "1 kB",
                    1,
                    (figure, bench) -> cost(figure, bench, MOST_BYTES, "B", Cost::bytes)),
            Figure.of(
                    "in-flight-memory",
                    "heap of 100,000 operations in flight, with the rows of the memory store",
                    "300 MB",
                    1,
                    CostFigures::memory));

    private CostFigures() {}

    private static Measured cost(
            Figure figure, Bench bench, double allowed, String unit, ToDoubleFunction<Cost> measure) throws Exception {
        double cost = bench.costs().stream()
                .filter(it -> it.name().equals(Micro.ENGINE_OVERHEAD))
                .mapToDouble(measure)
                .findFirst()
                .orElseThrow();
        return new Measured(
                figure,
                List.of(allowed / cost),
                "%.0f %s".formatted(cost, unit),
                "%.0f %s".formatted(allowed, unit),
                "allowed");
    }

    private static Measured memory(Figure figure, Bench bench) throws Exception {
        bench.say("100,000 handlers that do not end");
        double bytes = InFlightMemory.withMemoryStore();
        return new Measured(figure, List.of(MOST_HEAP / bytes), "%.0f MB".formatted(bytes / 1e6), "300 MB", "allowed");
    }
}
