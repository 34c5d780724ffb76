package dev.hapax.gateway.proxy;

import dev.hapax.gateway.proxy.GatewaySettings.Limits;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** All exchanges that are under way, and whether there will be more. Thread-safe. */
final class Traffic {
    /** Bodies that are read whole may take up a quarter of the heap together. */
    private static final long MOST_FOR_BODIES = Runtime.getRuntime().maxMemory() / 4;

    private final Limits limits;
    private final GatewayMetrics metrics;
    private final Set<Exchange> underWay = ConcurrentHashMap.newKeySet();
    private final CompletableFuture<Void> drained = new CompletableFuture<>();
    private final AtomicLong bodies = new AtomicLong();
    private final HttpDate date = new HttpDate();
    private volatile boolean stopping;
    private volatile boolean givenUp;

    Traffic(Limits limits, GatewayMetrics metrics) {
        this.limits = limits;
        this.metrics = metrics;
    }

    Limits limits() {
        return limits;
    }

    GatewayMetrics metrics() {
        return metrics;
    }

    HttpDate date() {
        return date;
    }

    int underWay() {
        return underWay.size();
    }

    void began(Exchange exchange) {
        underWay.add(exchange);
        if (givenUp) {
            exchange.giveUp();
        }
    }

    void ended(Exchange exchange, int status, long nanos) {
        if (underWay.remove(exchange)) {
            metrics.answered(status, Duration.ofNanos(nanos));
        }
        if (stopping && underWay.isEmpty()) {
            drained.complete(null);
        }
    }

    /** Makes room for what is read of a body, if there is any left. */
    boolean reserve(int bytes) {
        if (bodies.addAndGet(bytes) <= MOST_FOR_BODIES) {
            return true;
        }
        bodies.addAndGet(-bytes);
        return false;
    }

    void free(int bytes) {
        bodies.addAndGet(-bytes);
    }

    boolean isStopping() {
        return stopping;
    }

    /** No more exchanges are wanted. Completes when none is under way. */
    CompletableFuture<Void> stop() {
        stopping = true;
        if (underWay.isEmpty()) {
            drained.complete(null);
        }
        return drained.copy();
    }

    boolean isGivenUp() {
        return givenUp;
    }

    /** Waits for none of them any longer. From here on none begins anything, either. */
    void giveUp() {
        givenUp = true;
        underWay.forEach(Exchange::giveUp);
    }
}
