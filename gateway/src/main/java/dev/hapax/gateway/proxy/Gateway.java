package dev.hapax.gateway.proxy;

import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.http.HttpIdempotency;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A running gateway. Safe for use by many threads. */
public final class Gateway {
    private static final Logger log = LoggerFactory.getLogger(Gateway.class);

    /** What is given up has to be recorded, and those who wait for it told. */
    private static final Duration LAST_WORDS = Duration.ofSeconds(12);

    private final GatewaySettings settings;
    private final Traffic traffic;
    private final Vertx vertx;
    private final List<ProxyServer> servers;
    private final @Nullable Admin admin;
    private final AtomicBoolean stopping = new AtomicBoolean();
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();

    private Gateway(
            GatewaySettings settings, Traffic traffic, Vertx vertx, List<ProxyServer> servers, @Nullable Admin admin) {
        this.settings = settings;
        this.traffic = traffic;
        this.vertx = vertx;
        this.servers = servers;
        this.admin = admin;
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

    /**
     * Listens. Fails with a {@link java.net.BindException} when a port is taken; nothing is left open then.
     *
     * @throws java.io.UncheckedIOException when a file of keys or certificates cannot be read
     */
    public static CompletionStage<Gateway> start(GatewaySettings settings, Backing backing) {
        Traffic traffic = new Traffic(settings.limits(), backing.metrics());
        Door door = new Door(settings.limits());
        int loops = GatewayVertx.loops();
        List<ProxyServer> servers = Stream.generate(() -> new ProxyServer(settings, backing, traffic, loops))
                .limit(loops)
                .toList();
        Admin admin = settings.admin() == null ? null : new Admin(backing.hapax(), traffic);
        Gateway gateway = new Gateway(settings, traffic, GatewayVertx.at(door), servers, admin);
        return gateway.listen()
                .onSuccess(listening -> backing.metrics().watch(door::open, traffic::underWay))
                .map(gateway)
                .recover(failure -> gateway.close().transform(closed -> Future.failedFuture(failure)))
                .toCompletionStage();
    }

    private Future<?> listen() {
        return Future.all(servers.stream().map(vertx::deployVerticle).toList())
                .compose(deployed -> admin == null
                        ? Future.succeededFuture()
                        : admin.listen(Objects.requireNonNull(settings.admin())));
    }

    /** Where clients come in. */
    public int port() {
        return servers.get(0).port();
    }

    /** Where health and metrics are served, if they are. */
    public OptionalInt adminPort() {
        return admin == null ? OptionalInt.empty() : OptionalInt.of(admin.port());
    }

    /**
     * Stops: accepts nothing more, finishes what is in flight within the grace time, and gives up the rest: what the
     * upstream was not sent is released, what it was sent is left in doubt. Completes when all of that is recorded.
     * Stopping twice is stopping once.
     */
    public CompletionStage<Void> stop() {
        if (stopping.compareAndSet(false, true)) {
            log.info("Stopping; {} requests are in flight", traffic.underWay());
            CompletableFuture<Void> drained = traffic.stop();
            servers.forEach(server -> server.shutdown(settings.grace().plus(LAST_WORDS)));
            within(drained, settings.grace())
                    .exceptionallyCompose(late -> giveUp(drained))
                    .whenComplete((done, failure) -> close().onComplete(closed -> {
                        log.info("Stopped");
                        stopped.complete(null);
                    }));
        }
        return stopped.copy();
    }

    private CompletableFuture<Void> giveUp(CompletableFuture<Void> drained) {
        log.warn("The grace time is over; giving up {} requests", traffic.underWay());
        traffic.giveUp();
        return within(drained, LAST_WORDS);
    }

    private static CompletableFuture<Void> within(CompletableFuture<Void> future, Duration time) {
        return future.copy().orTimeout(Math.max(1, time.toMillis()), TimeUnit.MILLISECONDS);
    }

    private Future<?> close() {
        return Future.join(vertx.close(), admin == null ? Future.succeededFuture() : admin.close());
    }
}
