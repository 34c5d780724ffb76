package dev.hapax.bench.gateway;

import dev.hapax.bench.gateway.Latencies.Latency;
import dev.hapax.bench.process.ChildJvm;
import dev.hapax.embedded.postgres.EmbeddedPostgres;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Measures the gateway and prints ratios; with {@code --quick}, in a few short rounds. */
public final class GatewayTable {
    private static final Duration WARM_UP = Duration.ofSeconds(30);
    private static final int PER_SECOND = 500;

    private final GatewayBench bench;
    private final int rounds;
    private final Duration round;

    private GatewayTable(GatewayBench bench, int rounds, Duration round) {
        this.bench = bench;
        this.rounds = rounds;
        this.round = round;
    }

    private interface Load {
        double run(Duration time) throws IOException;
    }

    /** A load, the gateway that it goes through, and what came out, round by round. */
    private record Side(String name, Load load, ChildJvm through, List<Double> perSecond, List<Double> cpuMicros) {
        Side(String name, Load load, ChildJvm through) {
            this(name, load, through, new ArrayList<>(), new ArrayList<>());
        }

        void round(Duration time) throws IOException {
            Duration before = through.cpu();
            long began = System.nanoTime();
            double rate = load.run(time);
            double requests = rate * (System.nanoTime() - began) / 1e9;
            perSecond.add(rate);
            cpuMicros.add(through.cpu().minus(before).toNanos() / 1e3 / requests);
        }
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        boolean quick = List.of(args).contains("--quick");
        try (EmbeddedPostgres postgres = EmbeddedPostgres.builder()
                        .setting("fsync", "on")
                        .setting("max_connections", "100")
                        .start();
                GatewayBench bench = GatewayBench.open(postgres.jdbcUrl())) {
            new GatewayTable(bench, quick ? 4 : 12, Duration.ofMillis(quick ? 500 : 1_000)).run(quick);
        }
    }

    private void run(boolean quick) throws IOException, InterruptedException {
        List<Side> sides = List.of(
                new Side("without idempotency", bench::passThrough, bench.passing()),
                new Side("fresh", bench::fresh, bench.protecting()),
                new Side("replay", bench::replay, bench.protecting()),
                new Side("plain upstream", bench::plain, bench.upstream()));
        System.err.println(
                "gateway with idempotency: process " + bench.protecting().pid());
        bench.warmUp(quick ? WARM_UP.dividedBy(3) : WARM_UP);
        for (int i = 0; i < rounds; i++) {
            for (Side side : sides) {
                side.round(round);
            }
        }
        for (Side side : sides) {
            System.out.println(line(side, sides.get(0)));
        }
        print(bench.addedLatency(PER_SECOND, rounds, round.dividedBy(2)));
    }

    private String line(Side side, Side against) {
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < rounds; i++) {
            ratios.add(side.perSecond().get(i) / against.perSecond().get(i));
        }
        List<Double> ascending = ratios.stream().sorted().toList();
        return "%-20s %8.0f /s  %5.2f × (%.2f–%.2f)  %5.0f µs of processor time a request"
                .formatted(
                        side.name(),
                        median(side.perSecond()),
                        median(ratios),
                        ascending.get(0),
                        ascending.get(rounds - 1),
                        median(side.cpuMicros()));
    }

    private static double median(List<Double> numbers) {
        return numbers.stream().sorted().toList().get(numbers.size() / 2);
    }

    private static void print(Latencies latencies) {
        System.out.printf("at %d requests a second, in µs%n", latencies.perSecond());
        print("plain upstream", latencies.plain());
        print("without idempotency", latencies.passThrough());
        print("fresh", latencies.fresh());
        print("replay", latencies.replay());
        print("added to fresh", latencies.addedToFresh());
    }

    private static void print(String name, Latency latency) {
        System.out.printf("%-20s p50 %7.0f  p99 %7.0f%n", name, latency.p50(), latency.p99());
    }
}
