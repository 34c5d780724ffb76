package dev.hapax.gateway.proxy;

import dev.hapax.HapaxListener;
import dev.hapax.TerminalFailure;
import dev.hapax.store.ExpiredLease;
import dev.hapax.store.OperationKey;
import dev.hapax.store.Swept;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntSupplier;

/**
 * Counts what happens: to operations, as a listener of the {@code Hapax} that the gateway stands on, and to the
 * gateway's own traffic. Safe for use by many threads.
 */
public final class GatewayMetrics implements HapaxListener {
    private final PrometheusMeterRegistry registry;

    /** Asking the registry costs more than counting; there are only as many as scopes and outcomes. */
    private final Map<Ending, Counter> operations = new ConcurrentHashMap<>();

    private final Map<String, Timer> durations = new ConcurrentHashMap<>();
    private final Map<String, Timer> answers = new ConcurrentHashMap<>();

    private record Ending(String scope, String outcome) {}

    public GatewayMetrics(PrometheusMeterRegistry registry) {
        this.registry = registry;
        new JvmMemoryMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        new UptimeMetrics().bindTo(registry);
        new FileDescriptorMetrics().bindTo(registry);
    }

    /** All of it in the text format of Prometheus. */
    String scrape() {
        return registry.scrape();
    }

    void watch(IntSupplier connections, IntSupplier exchanges) {
        Gauge.builder("hapax.gateway.connections", connections::getAsInt)
                .description("Clients that are connected")
                .register(registry);
        Gauge.builder("hapax.gateway.in.flight", exchanges::getAsInt)
                .description("Requests that are not answered yet")
                .register(registry);
    }

    /** @param status 0 when the client was gone */
    void answered(int status, Duration took) {
        answers.computeIfAbsent(kind(status), kind -> registry.timer("hapax.gateway.requests", "status", kind))
                .record(took);
    }

    private static String kind(int status) {
        return switch (status / 100) {
            case 0 -> "gone";
            case 1 -> "1xx";
            case 2 -> "2xx";
            case 3 -> "3xx";
            case 4 -> "4xx";
            case 5 -> "5xx";
            default -> status / 100 + "xx";
        };
    }

    void upstreamFailed(UpstreamFailure failure) {
        registry.counter("hapax.gateway.upstream.failures", "kind", failure.label())
                .increment();
    }

    @Override
    public void completed(OperationKey key, int attempt, Duration took) {
        count(key, "completed");
        durations
                .computeIfAbsent(key.scope(), scope -> registry.timer("hapax.operation.duration", "scope", scope))
                .record(took);
    }

    @Override
    public void failed(OperationKey key, int attempt, TerminalFailure failure) {
        count(key, "failed");
    }

    @Override
    public void released(OperationKey key, int attempt, Throwable cause) {
        count(key, "released");
    }

    @Override
    public void replayed(OperationKey key) {
        count(key, "replayed");
    }

    @Override
    public void inProgress(OperationKey key) {
        count(key, "in_progress");
    }

    @Override
    public void mismatched(OperationKey key) {
        count(key, "mismatched");
    }

    @Override
    public void inDoubt(OperationKey key) {
        count(key, "in_doubt");
    }

    @Override
    public void claimLost(OperationKey key, int attempt) {
        count(key, "claim_lost");
    }

    @Override
    public void unrecorded(OperationKey key, int attempt, Throwable cause) {
        count(key, "unrecorded");
    }

    @Override
    public void resultNotStored(OperationKey key, int attempt, String why) {
        count(key, "result_not_stored");
    }

    @Override
    public void unprotected(OperationKey key, Throwable cause) {
        count(key, "unprotected");
    }

    @Override
    public void refused(OperationKey key, Throwable cause) {
        count(key, "refused");
    }

    @Override
    public void leaseExpired(ExpiredLease lease) {
        registry.counter("hapax.leases.expired", "scope", lease.key().scope()).increment();
    }

    @Override
    public void swept(Swept swept) {
        sweep("removed", swept.removed());
        sweep("reopened", swept.reopened());
        sweep("failed", swept.failed());
        sweep("parked", swept.parked());
        sweep("timed_out", swept.timedOut());
    }

    private void count(OperationKey key, String outcome) {
        operations
                .computeIfAbsent(
                        new Ending(key.scope(), outcome),
                        it -> registry.counter("hapax.operations", "scope", it.scope(), "outcome", it.outcome()))
                .increment();
    }

    private void sweep(String became, int operations) {
        registry.counter("hapax.swept", "became", became).increment(operations);
    }
}
