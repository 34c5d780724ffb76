package dev.hapax.gateway;

import dev.hapax.Hapax;
import dev.hapax.gateway.config.Configuration;
import dev.hapax.gateway.proxy.Gateway;
import dev.hapax.gateway.proxy.GatewayMetrics;
import dev.hapax.gateway.proxy.GatewaySettings;
import dev.hapax.gateway.proxy.GatewaySettings.Address;
import dev.hapax.http.HttpIdempotency;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** A gateway with all that it stands on: store, engine, HTTP semantics, proxy. Safe for use by many threads. */
public final class RunningGateway implements AutoCloseable {
    private final Gateway gateway;
    private final Deque<Runnable> stops;

    private RunningGateway(Gateway gateway, Deque<Runnable> stops) {
        this.gateway = gateway;
        this.stops = stops;
    }

    /**
     * Starts everything.
     *
     * @param patience how long to wait for a store that does not answer
     * @throws StartException that says what to do; nothing is left running then
     */
    public static RunningGateway start(Configuration configuration, Duration patience, Progress progress) {
        refuseTakenPorts(configuration.gateway());
        Deque<Runnable> stops = new ArrayDeque<>();
        try {
            StoreConnection store = StoreConnection.open(configuration.store(), progress);
            stops.push(store::close);
            GatewayMetrics metrics = new GatewayMetrics(new PrometheusMeterRegistry(PrometheusConfig.DEFAULT));
            Hapax hapax = hapax(configuration, store, metrics);
            stops.push(hapax::close);
            store.await(hapax, patience, progress);
            HttpIdempotency http = new HttpIdempotency(hapax, configuration.routes(), configuration.tenant());
            Gateway gateway = listen(configuration.gateway(), new Gateway.Backing(http, hapax, metrics));
            stops.push(() -> gateway.stop().toCompletableFuture().join());
            return new RunningGateway(gateway, stops);
        } catch (RuntimeException e) {
            stops.forEach(Runnable::run);
            throw e;
        }
    }

    /** Where clients come in. */
    public int port() {
        return gateway.port();
    }

    /** Where health and metrics are served, if they are. */
    public OptionalInt adminPort() {
        return gateway.adminPort();
    }

    /** Finishes what is in flight within the grace time, then stops everything. Closing twice is closing once. */
    @Override
    public synchronized void close() {
        while (!stops.isEmpty()) {
            stops.pop().run();
        }
    }

    private static Hapax hapax(Configuration configuration, StoreConnection store, GatewayMetrics metrics) {
        Hapax.Builder builder = Hapax.on(store.frontedStore()).withoutFronts().listener(metrics);
        configuration.scopes().forEach(builder::scope);
        return builder.build();
    }

    private static Gateway listen(GatewaySettings settings, Gateway.Backing backing) {
        try {
            return Gateway.start(settings, backing).toCompletableFuture().join();
        } catch (CompletionException e) {
            @Nullable Throwable cause = e.getCause();
            throw new StartException(whyNotListening(settings, cause == null ? e : cause), e);
        }
    }

    /** Before the slow part of a start, not after it. */
    private static void refuseTakenPorts(GatewaySettings settings) {
        takenPort(settings).ifPresent(why -> {
            throw new StartException(why, null);
        });
    }

    private static String whyNotListening(GatewaySettings settings, Throwable cause) {
        return takenPort(settings)
                .filter(why -> cause instanceof BindException)
                .orElse("the gateway did not start: " + cause.getMessage());
    }

    private static Optional<String> takenPort(GatewaySettings settings) {
        Address listen = settings.listen();
        @Nullable Address admin = settings.admin();
        return whyTaken("listen", listen).or(() -> admin == null ? Optional.empty() : whyTaken("admin", admin));
    }

    private static Optional<String> whyTaken(String flag, Address address) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.bind(new InetSocketAddress(address.host(), address.port()));
            return Optional.empty();
        } catch (BindException e) {
            boolean inUse = String.valueOf(e.getMessage()).contains("in use");
            return Optional.of(
                    inUse
                            ? "port %d is in use by another program; stop it, or choose another port with --%s %s"
                                    .formatted(address.port(), flag, Addresses.otherThan(address))
                            : "cannot listen on %s: %s; choose another address with --%s"
                                    .formatted(Addresses.text(address), e.getMessage(), flag));
        } catch (IOException | UnresolvedAddressException e) {
            return Optional.of("cannot listen on %s: there is no such host here; choose another with --%s"
                    .formatted(Addresses.text(address), flag));
        }
    }
}
