package dev.hapax.bench.gateway;

import dev.hapax.bench.process.ChildJvm;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The gateway under load, each part in a process of its own: an upstream, a gateway that protects it, and the same
 * gateway without a route that protects anything. Connections are kept, and requests and answers have 300 bytes of
 * JSON. Not safe for use by many threads.
 */
public final class GatewayBench implements AutoCloseable {
    private static final int KEEPING = 8;
    private static final int KEPT = 500;
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
    private final int protectingPort;
    private final int passingPort;
    private final Map<Integer, Clients> ofProtecting = new HashMap<>();
    private final Map<Integer, Clients> ofPassing = new HashMap<>();
    private final Keys fresh = Keys.fresh();
    private final Keys kept;

    /** @param jdbcUrl a database in which the gateways may make their tables */
    private GatewayBench(String jdbcUrl) throws IOException {
        try {
            upstream = opened(ChildJvm.start(UpstreamProcess.class, SMALL_HEAP, List.of()));
            int port = port(upstream);
            protecting = opened(gateway(CONFIGURATION.formatted(port, jdbcUrl, "/v1/charges")));
            passing = opened(gateway(CONFIGURATION.formatted(port, jdbcUrl, "/v1/elsewhere")));
            protectingPort = port(protecting);
            passingPort = port(passing);
            Keys first = Keys.fresh();
            ofProtecting(KEEPING).send(KEPT, first);
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

    /** How much processor time the compilers of all processes have used. */
    public Duration compilerTime() throws IOException {
        return upstream.compilerTime().plus(protecting.compilerTime()).plus(passing.compilerTime());
    }

    /** Requests through the gateway, each of which runs. */
    public LoadResult fresh(int connections, Duration time) throws IOException {
        return ofProtecting(connections).closedLoop(time, fresh);
    }

    /** Requests through the gateway, each of which is answered from the record. */
    public LoadResult replay(int connections, Duration time) throws IOException {
        return ofProtecting(connections).closedLoop(time, kept);
    }

    /** Requests through the gateway without idempotency. */
    public LoadResult passThrough(int connections, Duration time) throws IOException {
        return clients(ofPassing, passingPort, connections).closedLoop(time, fresh);
    }

    private Clients ofProtecting(int connections) throws IOException {
        return clients(ofProtecting, protectingPort, connections);
    }

    /** Each number of connections has clients of its own, kept from turn to turn. */
    private Clients clients(Map<Integer, Clients> known, int port, int connections) throws IOException {
        Clients clients = known.get(connections);
        if (clients == null) {
            clients = opened(new Clients(port, connections));
            known.put(connections, clients);
        }
        return clients;
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
