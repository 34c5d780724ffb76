package dev.hapax.bench.gateway;

import dev.hapax.bench.gateway.Latencies.Latency;
import dev.hapax.bench.process.ChildJvm;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * The gateway under load, each part in a process of its own: an upstream, a gateway that protects it, and the same
 * gateway without a route that protects anything. All loads have {@value #CONNECTIONS} connections that are kept, and
 * requests with 300 bytes of JSON. Not safe for use by many threads.
 */
public final class GatewayBench implements AutoCloseable {
    private static final int CONNECTIONS = 64;
    private static final int KEPT = 500;
    private static final Duration LONGEST_TURN = Duration.ofSeconds(1);
    private static final double AT_REST = 0.05;
    private static final List<String> HEAP = List.of("-Xms512m", "-Xmx512m");
    private static final List<String> SMALL_HEAP = List.of("-Xms128m", "-Xmx128m");

    private static final String CONFIGURATION = """
            listen: 127.0.0.1:0
            admin: off
            upstream: http://127.0.0.1:%d
            store: "%s"
            routes:
              - match: POST %s
                scope: charges
                key: header
            """;

    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final ChildJvm upstream;
    private final ChildJvm protecting;
    private final ChildJvm passing;
    private final Clients ofUpstream;
    private final Clients ofProtecting;
    private final Clients ofPassing;
    private final Keys fresh = Keys.fresh();
    private final Keys kept;

    /** @param jdbcUrl a database in which the gateways may make their tables */
    private GatewayBench(String jdbcUrl) throws IOException {
        try {
            upstream = opened(ChildJvm.start(UpstreamProcess.class, SMALL_HEAP, List.of()));
            int port = port(upstream);
            protecting = opened(gateway(CONFIGURATION.formatted(port, jdbcUrl, "/v1/charges")));
            passing = opened(gateway(CONFIGURATION.formatted(port, jdbcUrl, "/v1/elsewhere")));
            ofUpstream = opened(new Clients(port, CONNECTIONS));
            ofProtecting = opened(new Clients(port(protecting), CONNECTIONS));
            ofPassing = opened(new Clients(port(passing), CONNECTIONS));
            Keys first = Keys.fresh();
            ofProtecting.send(KEPT, first);
            kept = first.again(KEPT);
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    /**
     * Starts everything.
     *
     * @param jdbcUrl a database in which the gateways may make their tables
     */
    public static GatewayBench open(String jdbcUrl) throws IOException {
        return new GatewayBench(jdbcUrl);
    }

    private static ChildJvm gateway(String configuration) throws IOException {
        return ChildJvm.start(GatewayProcess.class, HEAP, List.of(configuration));
    }

    private static int port(ChildJvm child) throws IOException {
        return Integer.parseInt(child.line());
    }

    private <T extends AutoCloseable> T opened(T resource) {
        open.push(resource);
        return resource;
    }

    /**
     * Loads all sides in turns until the compilers of all processes rest, or time is up: a gateway that Java has not
     * compiled yet is five times slower. Between the turns the compilers have the processors for themselves.
     */
    public void warmUp(Duration atMost) throws IOException, InterruptedException {
        long until = System.nanoTime() + atMost.toNanos();
        Duration turn = atMost.compareTo(LONGEST_TURN) < 0 ? atMost : LONGEST_TURN;
        boolean atRest = false;
        while (!atRest && until - System.nanoTime() > 0) {
            long began = System.nanoTime();
            Duration compiled = compilerTime();
            double unused = passThrough(turn) + fresh(turn) + replay(turn.dividedBy(2)) + plain(turn.dividedBy(10));
            Thread.sleep(turn.toMillis());
            long compiling = compilerTime().minus(compiled).toNanos();
            atRest = compiling > 0 && compiling < AT_REST * (System.nanoTime() - began);
        }
    }

    private Duration compilerTime() throws IOException {
        return upstream.compilerTime().plus(protecting.compilerTime()).plus(passing.compilerTime());
    }

    /** @return requests per second through the gateway, each of which runs */
    public double fresh(Duration time) throws IOException {
        return ofProtecting.closedLoop(time, fresh);
    }

    /** @return requests per second through the gateway, each of which is answered from the record */
    public double replay(Duration time) throws IOException {
        return ofProtecting.closedLoop(time, kept);
    }

    /** @return requests per second through the gateway without idempotency */
    public double passThrough(Duration time) throws IOException {
        return ofPassing.closedLoop(time, fresh);
    }

    /** @return requests per second without any gateway */
    public double plain(Duration time) throws IOException {
        return ofUpstream.closedLoop(time, fresh);
    }

    /**
     * How long answers take while requests come in at a fixed rate, whatever the answers do.
     *
     * @param turns how often each side has its turn
     * @param turn how long a turn lasts
     */
    public Latencies addedLatency(int perSecond, int turns, Duration turn) throws IOException {
        long[] plain = {};
        long[] passed = {};
        long[] ran = {};
        long[] replayed = {};
        for (int i = 0; i < turns; i++) {
            plain = Latencies.merged(plain, ofUpstream.openLoop(perSecond, turn, fresh));
            passed = Latencies.merged(passed, ofPassing.openLoop(perSecond, turn, fresh));
            ran = Latencies.merged(ran, ofProtecting.openLoop(perSecond, turn, fresh));
            replayed = Latencies.merged(replayed, ofProtecting.openLoop(perSecond, turn, kept));
        }
        return new Latencies(perSecond, Latency.of(plain), Latency.of(passed), Latency.of(ran), Latency.of(replayed));
    }

    /** The process that runs the gateway with idempotency. */
    ChildJvm protecting() {
        return protecting;
    }

    /** The process that runs the gateway without it. */
    ChildJvm passing() {
        return passing;
    }

    ChildJvm upstream() {
        return upstream;
    }

    /** Closes all of it, whatever happens to one. */
    @Override
    public void close() throws IOException {
        IOException failure = null;
        while (!open.isEmpty()) {
            try {
                open.pop().close();
            } catch (Exception e) {
                failure = failure == null ? new IOException("something of the gateway's bench stays open") : failure;
                failure.addSuppressed(e);
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
