package dev.hapax.gateway.proxy;

import static dev.hapax.gateway.proxy.RawUpstream.response;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.hapax.Policy;
import dev.hapax.gateway.proxy.GatewaySettings.Pool;
import dev.hapax.memory.MemoryStore;
import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.ForwardingStore;
import dev.hapax.store.Renewal;
import dev.hapax.store.RenewalStatus;
import dev.hapax.store.WhenAbandoned;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Requests whose lease is over by the time that the pool has a connection to the upstream for them. */
class LateConnectionTest {
    private static final Duration LEASE = Duration.ofMillis(300);
    private static final Duration LONG = Duration.ofMinutes(2);
    private static final Policy PARKING =
            Policy.defaults().whenAbandoned(WhenAbandoned.PARK).maxAttempts(1).lease(LEASE);

    private final SilentRenewals store = new SilentRenewals();
    private final Semaphore mayAnswer = new Semaphore(0);

    /** Renewals get no answer, so that leases run out and nobody says so. */
    private static final class SilentRenewals extends ForwardingStore {
        private final AtomicInteger claims = new AtomicInteger();
        private volatile boolean silent = true;

        SilentRenewals() {
            super(new MemoryStore());
        }

        int claimed() {
            return claims.get();
        }

        @Override
        public CompletionStage<Claim> claim(ClaimRequest request) {
            claims.incrementAndGet();
            return super.claim(request);
        }

        @Override
        public CompletionStage<List<RenewalStatus>> renew(List<Renewal> renewals) {
            return silent ? new CompletableFuture<>() : super.renew(renewals);
        }
    }

    @Test
    void nothingIsSentOnceTheLeaseIsOver() throws Exception {
        int loops = GatewayVertx.loops();
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    while (connection.read().isPresent()) {
                        mayAnswer.acquire();
                        connection.send(response("201 Created", "done"));
                    }
                });
                TestGateway gateway = TestGateway.before(upstream.uri())
                        .store(store)
                        .charges(PARKING)
                        .pool(new Pool(loops, 100, LONG, Duration.ofSeconds(30)))
                        .start()) {
            List<RawClient> clients = new ArrayList<>();
            for (int i = 0; i < 3 * loops; i++) {
                clients.add(new RawClient(gateway).charge("k" + i));
            }
            await().until(() -> upstream.requests().size() == loops);
            await().until(() -> store.claimed() == clients.size());
            awaitEndOfLeases();
            mayAnswer.release(1000);

            List<String> late = new ArrayList<>();
            for (int i = 0; i < clients.size(); i++) {
                Message answer = clients.get(i).read();
                clients.get(i).close();
                if (answer.status() != 201) {
                    assertThat(answer.status()).isEqualTo(503);
                    assertThat(answer.header("Retry-After")).isEqualTo("1");
                    assertThat(answer.text()).contains("urn:hapax:problem:overloaded", "Nothing was sent");
                    late.add("k" + i);
                }
            }
            assertThat(late).hasSize(2 * loops);
            assertThat(upstream.requests()).hasSize(loops);

            store.silent = false;
            assertRunsAsFirstAttempt(gateway, upstream, late.get(0));
        }
    }

    private static void awaitEndOfLeases() {
        long since = System.nanoTime();
        await().until(() -> System.nanoTime() - since > 2 * LEASE.toNanos());
    }

    private static void assertRunsAsFirstAttempt(TestGateway gateway, RawUpstream upstream, String key)
            throws Exception {
        try (RawClient client = new RawClient(gateway)) {
            assertThat(client.charge(key).read().status()).isEqualTo(201);
        }
        Message last = upstream.requests().get(upstream.requests().size() - 1);
        assertThat(last.header("Idempotency-Key")).isEqualTo('"' + key + '"');
        assertThat(last.header("Hapax-Attempt")).isEqualTo("1");
    }
}
