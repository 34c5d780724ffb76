package dev.hapax.gateway.proxy;

import dev.hapax.HapaxListener;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;

/**
 * Counts what happens: to operations, as a listener of the {@code Hapax} that the gateway stands on, and to the
 * gateway's own traffic. Safe for use by many threads.
 */
public final class GatewayMetrics implements HapaxListener {
    private final PrometheusMeterRegistry registry;

    public GatewayMetrics(PrometheusMeterRegistry registry) {
        this.registry = registry;
    }

    /** All of it in the text format of Prometheus. */
    String scrape() {
        return registry.scrape();
    }
}
