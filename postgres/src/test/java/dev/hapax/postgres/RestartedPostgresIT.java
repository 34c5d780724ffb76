package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Hapax;
import dev.hapax.Outcome;
import dev.hapax.Policy;
import dev.hapax.WhenInFlight;
import dev.hapax.embedded.postgres.EmbeddedPostgres;
import dev.hapax.store.StoreUnavailableException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class RestartedPostgresIT {
    private static final int OPERATIONS = Integer.getInteger("hapax.operations", 1_500);
    private static final int CALLERS = 32;

    private final Map<String, AtomicInteger> runs = new ConcurrentHashMap<>();
    private final Map<String, String> answers = new ConcurrentHashMap<>();
    private final AtomicInteger refused = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();
    private volatile boolean atPeace;

    @Test
    void aDatabaseKilledUnderLoadMakesNoHandlerRunTwiceAndLosesNoResult() throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.start();
                HikariDataSource pool = TestDatabase.pool(server.jdbcUrl(), 8)) {
            PostgresSchema.migrate(pool);
            try (PostgresStore store = PostgresStore.over(pool);
                    Hapax hapax = Hapax.on(store)
                            .scope(
                                    "restart",
                                    Policy.defaults().whenInFlight(WhenInFlight.waitAtMost(Duration.ofSeconds(10))))
                            .build()) {
                List<Future<?>> callers = start(hapax);
                for (int kill = 1; kill <= 3; kill++) {
                    int progress = kill * OPERATIONS / 2;
                    Awaitility.await().atMost(Duration.ofMinutes(2)).until(() -> done.get() >= progress);
                    int refusedBefore = refused.get();
                    server.kill();
                    Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> refused.get() > refusedBefore);
                    server.restart();
                }
                atPeace = true;
                for (Future<?> caller : callers) {
                    caller.get();
                }
            }
        }
        System.out.printf(
                "%d calls, of which %d were refused and sent again%n", done.get() + refused.get(), refused.get());
        assertThat(answers).hasSize(OPERATIONS);
        assertThat(runs).allSatisfy((key, count) -> assertThat(count).hasValue(1));
    }

    /** Every operation is sent twice, by different callers, and again while the database is still to be killed. */
    private List<Future<?>> start(Hapax hapax) {
        ExecutorService threads = Executors.newFixedThreadPool(CALLERS);
        AtomicInteger next = new AtomicInteger();
        List<Future<?>> callers = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            callers.add(threads.submit(() -> {
                int send;
                while ((send = next.getAndIncrement()) < 2 * OPERATIONS || !atPeace) {
                    sendUntilAnswered(hapax, "op-" + (send * 7919L % OPERATIONS));
                    done.incrementAndGet();
                }
            }));
        }
        threads.shutdown();
        return callers;
    }

    private void sendUntilAnswered(Hapax hapax, String key) {
        Optional<String> answer = send(hapax, key);
        while (answer.isEmpty()) {
            LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
            answer = send(hapax, key);
        }
        String before = answers.putIfAbsent(key, answer.get());
        assertThat(before == null ? answer.get() : before).isEqualTo(answer.get());
    }

    /** Empty where the call was refused or is in progress: both say that it may be sent again. */
    private Optional<String> send(Hapax hapax, String key) {
        try {
            Outcome<byte[]> outcome = hapax.scope("restart").key(key).run(lease -> {
                runs.computeIfAbsent(key, k -> new AtomicInteger()).incrementAndGet();
                return lease.token().toString().getBytes(StandardCharsets.UTF_8);
            });
            return outcome.fold(
                    executed -> text(executed.value()),
                    replayed -> text(replayed.value()),
                    inProgress -> Optional.empty(),
                    mismatched -> Optional.empty(),
                    inDoubt -> Optional.empty());
        } catch (StoreUnavailableException e) {
            assertThat(e.retryable()).isTrue();
            refused.incrementAndGet();
            return Optional.empty();
        }
    }

    private static Optional<String> text(byte[] bytes) {
        return Optional.of(new String(bytes, StandardCharsets.UTF_8));
    }
}
