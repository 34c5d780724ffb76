package dev.hapax.bench;

import dev.hapax.bench.gateway.GatewayBench;
import dev.hapax.bench.gateway.LoadResult;
import java.time.Duration;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** The gateway beside itself with idempotency off, each part in a process of its own. */
final class GatewayFigures {
    private static final int MANY = 64;
    private static final String OFF = "the same gateway with idempotency off";

    static final List<Figure> ALL = List.of(
            Figure.of(
                    "gateway-fresh",
                    "fresh requests through the gateway, 64 connections",
                    OFF,
                    0.6,
                    (figure, bench) -> rates(figure, bench, "fresh", GatewayBench::fresh)),
            Figure.of(
                    "gateway-replay",
                    "replays through the gateway, 64 connections",
                    OFF,
                    1,
                    (figure, bench) -> rates(figure, bench, "replay", GatewayBench::replay)),
            latency(1),
            latency(MANY));

    private GatewayFigures() {}

    private interface Side {
        LoadResult run(GatewayBench gateway, int connections, Duration time) throws Exception;
    }

    private static Figure latency(int connections) {
        return Figure.informing(
                "gateway-latency-" + connections,
                "median time of a fresh request, %d connection%s that send%s the next one after each answer"
                        .formatted(connections, connections == 1 ? "" : "s", connections == 1 ? "s" : ""),
                OFF + "; 0.5 means twice as long",
                (figure, bench) -> {
                    try (Comparison comparison = compare(
                            bench, connections, "fresh", GatewayBench::fresh, load -> 1e9 / load.medianNanos())) {
                        return comparison.in(Measured.Unit.MILLIS).measure(figure, bench, effort(figure, bench));
                    }
                });
    }

    private static Measured rates(Figure figure, Bench bench, String name, Side side) throws Exception {
        try (Comparison comparison = compare(bench, MANY, name, side, LoadResult::perSecond)) {
            return comparison.measure(figure, bench, effort(figure, bench));
        }
    }

    /** Java compiles a gateway after some ten thousand requests of each kind: until then it is many times slower. */
    private static Effort effort(Figure figure, Bench bench) {
        Effort effort = bench.effort();
        return effort.of(figure).withWarmUp(Duration.ofSeconds(effort.quick() ? 7 : 30));
    }

    private static Comparison compare(
            Bench bench, int connections, String name, Side side, ToDoubleFunction<LoadResult> speed) throws Exception {
        GatewayBench gateway = bench.gateway();
        return Comparison.of(
                        workload(gateway, connections, name, side, speed),
                        workload(gateway, connections, "idempotency off", GatewayBench::passThrough, speed))
                .compiledBy(gateway::compilerTime);
    }

    private static Workload workload(
            GatewayBench gateway, int connections, String name, Side side, ToDoubleFunction<LoadResult> speed) {
        return Workload.of(
                name, () -> {}, effort -> speed.applyAsDouble(side.run(gateway, connections, effort.round())));
    }
}
