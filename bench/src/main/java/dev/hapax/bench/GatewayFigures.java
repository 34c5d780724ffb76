package dev.hapax.bench;

import dev.hapax.bench.gateway.GatewayBench;
import dev.hapax.bench.gateway.Latencies;
import java.time.Duration;
import java.util.List;

/** The gateway, with 64 connections and each part in a process of its own. */
final class GatewayFigures {
    private static final int MODERATE = 500;

    static final List<Figure> ALL = List.of(
            Figure.of(
                    "gateway-fresh",
                    "fresh requests through the gateway, 64 connections",
                    "the same gateway with idempotency off",
                    0.6,
                    (figure, bench) -> compare(figure, bench, "fresh", GatewayBench::fresh)),
            Figure.of(
                    "gateway-replay",
                    "replays through the gateway, 64 connections",
                    "the same gateway with idempotency off",
                    1,
                    (figure, bench) -> compare(figure, bench, "replay", GatewayBench::replay)),
            Figure.informing(
                    "gateway-latency",
                    "median time of a fresh request at %d a second".formatted(MODERATE),
                    "the same gateway with idempotency off; 0.5 means twice as long",
                    GatewayFigures::latency));

    private GatewayFigures() {}

    private interface Load {
        double run(GatewayBench gateway, Duration time) throws Exception;
    }

    private static Measured compare(Figure figure, Bench bench, String name, Load load) throws Exception {
        GatewayBench gateway = bench.gateway();
        Comparison comparison = Comparison.of(
                Workload.of(name, () -> {}, effort -> load.run(gateway, effort.round())),
                Workload.of("idempotency off", () -> {}, effort -> gateway.passThrough(effort.round())));
        return comparison.measure(figure, bench);
    }

    private static Measured latency(Figure figure, Bench bench) throws Exception {
        Effort effort = bench.effort();
        Latencies latencies = bench.gateway().addedLatency(MODERATE, effort.quick() ? 2 : 5, effort.round());
        bench.say("at %d/s, p50 and p99 in µs: plain upstream %s, idempotency off %s, fresh %s, replay %s"
                .formatted(
                        MODERATE, latencies.plain(), latencies.passThrough(), latencies.fresh(), latencies.replay()));
        double off = latencies.passThrough().p50();
        double on = latencies.fresh().p50();
        return new Measured(
                figure, List.of(off / on), "%.0f µs".formatted(on), "%.0f µs".formatted(off), "idempotency off");
    }
}
