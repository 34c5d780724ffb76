package dev.hapax.gateway.proxy;

import dev.hapax.Hapax;
import dev.hapax.http.HttpIdempotency;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
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

    /** Clients that have all their answers close their connections; those that do not are cut off. */
    private static final Duration FAREWELL = Duration.ofSeconds(1);

    private final GatewaySettings settings;
    private final Door door;
    private final Traffic traffic;
    private final Vertx vertx;
    private final List<ProxyServer> servers;
    private final @Nullable Admin admin;
    private final AtomicBoolean stopping = new AtomicBoolean();
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();

    private Gateway(GatewaySettings settings, Backing backing) {
        this.settings = settings;
        this.traffic = new Traffic(settings.limits(), backing.metrics());
        this.door = new Door(settings.limits());
        this.vertx = GatewayVertx.at(door);
        int loops = GatewayVertx.loops();
        this.servers = Stream.generate(() -> new ProxyServer(settings, backing, traffic, loops))
                .limit(loops)
                .toList();
        this.admin = settings.admin() == null ? null : new Admin(backing.hapax(), traffic);
    }

    /**
     * What the gateway stands on. It closes none of it.
     *
     * @param metrics the same that hears what happens in {@code hapax}
     */
    public record Backing(HttpIdempotency idempotency, Hapax hapax, GatewayMetrics metrics) {}

    /**
     * Listens. Fails with a {@link java.net.BindException} when a port is taken, and with an
     * {@link java.io.UncheckedIOException} when a file of keys or certificates cannot be read; nothing is left open
     * then.
     */
    public static CompletionStage<Gateway> start(GatewaySettings settings, Backing backing) {
        Gateway gateway = new Gateway(settings, backing);
        return gateway.listen()
                .thenApply(listening -> {
                    backing.metrics().watch(gateway.door::open, gateway.traffic::underWay);
                    return gateway;
                })
                .exceptionallyCompose(failure -> gateway.close()
                        .handle((closed, stuck) -> failure)
                        .thenCompose(CompletableFuture::failedFuture));
    }

    private CompletableFuture<?> listen() {
        return Future.all(servers.stream().map(vertx::deployVerticle).toList())
                .compose(deployed -> admin == null
                        ? Future.succeededFuture()
                        : admin.listen(Objects.requireNonNull(settings.admin())))
                .toCompletionStage()
                .toCompletableFuture();
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
            CompletableFuture<Void> left = shutDown();
            within(drained, settings.grace())
                    .exceptionallyCompose(late -> giveUp(drained))
                    .handle((done, stuck) -> within(left, FAREWELL))
                    .thenCompose(closing -> closing)
                    .handle((done, stuck) -> within(close(), LAST_WORDS))
                    .thenCompose(closing -> closing)
                    .whenComplete((done, stuck) -> {
                        log.info("Stopped");
                        stopped.complete(null);
                    });
        }
        return stopped.copy();
    }

    /** Completes when the last client has left. */
    private CompletableFuture<Void> shutDown() {
        return Future.join(servers.stream()
                        .map(server -> server.shutdown(settings.grace().plus(LAST_WORDS)))
                        .toList())
                .<Void>mapEmpty()
                .toCompletionStage()
                .toCompletableFuture();
    }

    private CompletableFuture<Void> giveUp(CompletableFuture<Void> drained) {
        log.warn("The grace time is over; giving up {} requests", traffic.underWay());
        traffic.giveUp();
        return within(drained, LAST_WORDS);
    }

    private static CompletableFuture<Void> within(CompletableFuture<Void> future, Duration time) {
        return future.copy().orTimeout(Math.max(1, time.toMillis()), TimeUnit.MILLISECONDS);
    }

    private CompletableFuture<Void> close() {
        door.cutAll();
        return Future.join(vertx.close(), admin == null ? Future.succeededFuture() : admin.close())
                .<Void>mapEmpty()
                .toCompletionStage()
                .toCompletableFuture();
    }
}
