package dev.hapax.gateway.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.Sweeper;
import dev.hapax.memory.MemoryStore;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.ClaimTerms;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.OperationKey;
import dev.hapax.store.WhenAbandoned;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class GatewayMetricsTest {
    private static final String EXPIRED = "hapax_leases_expired_total{scope=\"charges\"} ";

    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));
    private final MemoryStore store = new MemoryStore(now::get);
    private final GatewayMetrics metrics = new GatewayMetrics(new PrometheusMeterRegistry(PrometheusConfig.DEFAULT));

    /** A gateway that claims an operation and crashes. */
    private void crash(String key) {
        ClaimTerms terms = new ClaimTerms(Duration.ofSeconds(30), Duration.ofDays(1), WhenAbandoned.RERUN, 10, null);
        store.claim(ClaimRequest.of(new OperationKey("", "charges", key), Fingerprint.NONE, "gone", terms))
                .toCompletableFuture()
                .join();
        now.updateAndGet(time -> time.plusSeconds(31));
    }

    @Test
    void expiredLeaseIsCountedWhenAClaimTakesOver() {
        crash("k");
        try (Hapax hapax = Hapax.on(store)
                .scope("charges", Policy.defaults())
                .listener(metrics)
                .withoutSweeper()
                .build()) {
            hapax.scope("charges").key("k").run(lease -> new byte[0]);
            hapax.scope("charges").key("k").run(lease -> new byte[0]);
        }

        assertThat(metrics.scrape()).contains(EXPIRED + "1.0");
    }

    @Test
    void expiredLeaseIsCountedWhenTheSweeperFindsIt() {
        crash("k");
        try (Sweeper sweeper = Sweeper.start(store, Duration.ofMillis(5), metrics)) {
            await().untilAsserted(() -> assertThat(metrics.scrape()).contains(EXPIRED + "1.0"));
        }
    }
}
