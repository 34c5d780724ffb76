package dev.hapax.gateway.proxy;

import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.http.HttpIdempotency;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A running gateway. Safe for use by many threads. */
public final class Gateway {
    private final int port;
    private final OptionalInt adminPort;

    private Gateway(int port, OptionalInt adminPort) {
        this.port = port;
        this.adminPort = adminPort;
    }

    /**
     * What the gateway stands on. It closes none of it.
     *
     * @param scopes the policies that the scopes of {@code hapax} have
     * @param metrics the same that hears what happens in {@code hapax}
     */
    public record Backing(
            HttpIdempotency idempotency, Hapax hapax, Map<String, Policy> scopes, GatewayMetrics metrics) {
        public Backing {
            scopes = Map.copyOf(scopes);
        }
    }

    /** Listens. Fails with a {@link java.net.BindException} when a port is taken; nothing is left open then. */
    public static CompletionStage<Gateway> start(GatewaySettings settings, Backing backing) {
        return CompletableFuture.completedFuture(new Gateway(settings.listen().port(), OptionalInt.empty()));
    }

    /** Where clients come in. */
    public int port() {
        return port;
    }

    /** Where health and metrics are served, if they are. */
    public OptionalInt adminPort() {
        return adminPort;
    }

    /**
     * Stops: accepts nothing more, finishes what is in flight within the grace time, and gives up the rest: what the
     * upstream was not sent is released, what it was sent is left in doubt. Completes when all of that is recorded.
     * Stopping twice is stopping once.
     */
    public CompletionStage<Void> stop() {
        return CompletableFuture.completedFuture(null);
    }
}
