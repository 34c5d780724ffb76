package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Hapax;
import dev.hapax.Outcome;
import dev.hapax.Policy;
import dev.hapax.WhenInFlight;
import dev.hapax.store.OperationId;
import dev.hapax.store.OperationKey;
import dev.hapax.store.StoreUnavailableException;
import dev.hapax.testkit.fault.FaultProxy;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Walks a fault over every write of an operation to PostgreSQL: claim, completion, each with its guard and commit.
 * Whatever is lost, the handler runs once and every retry gets its bytes.
 */
@Timeout(300)
class LostAnswerTest {
    private static final int MOST_WRITES = 60;

    private final TestDatabase database = TestDatabase.migrated();
    private FaultProxy proxy;
    private HikariDataSource pool;
    private Hapax hapax;

    @BeforeEach
    void connectThroughTheProxy() throws Exception {
        proxy = FaultProxy.to("127.0.0.1", database.port());
        pool = TestDatabase.pool(database.jdbcUrl().replace(":" + database.port() + "/", ":" + proxy.port() + "/"), 4);
        hapax = Hapax.on(PostgresStore.over(pool))
                .scope("faults", Policy.defaults().whenInFlight(WhenInFlight.waitAtMost(Duration.ofSeconds(20))))
                .withoutSweeper()
                .build();
    }

    @AfterEach
    void disconnect() throws Exception {
        hapax.close();
        pool.close();
        proxy.close();
    }

    @Test
    void noAnswerThatIsLostMakesOneCallersHandlerRunTwice() throws Exception {
        walk(1, proxy::loseAnswerAfter);
    }

    @Test
    void noRequestThatIsDroppedMakesOneCallersHandlerRunTwice() throws Exception {
        walk(1, proxy::dropRequestAfter);
    }

    @Test
    void noAnswerThatIsLostMakesAHandlerOfManyRunTwice() throws Exception {
        walk(8, proxy::loseAnswerAfter);
    }

    @Test
    void noRequestThatIsDroppedMakesAHandlerOfManyRunTwice() throws Exception {
        walk(8, proxy::dropRequestAfter);
    }

    /** Even the question how the pool's transactions are isolated has its time limit. */
    @Test
    void aServerThatNeverAnswersTheFirstQuestionCannotHoldACaller() throws Exception {
        try (Connection opened = pool.getConnection()) {
            assertThat(opened.isValid(5)).isTrue();
        }
        try (PostgresStore fresh =
                PostgresStore.builder(pool).ioTimeout(Duration.ofSeconds(1)).build()) {
            proxy.stall();

            assertThat(fresh.find(List.of(OperationId.of(new OperationKey("", "faults", "any"))))
                            .toCompletableFuture())
                    .failsWithin(Duration.ofSeconds(60))
                    .withThrowableThat()
                    .havingCause()
                    .isInstanceOf(StoreUnavailableException.class);
        } finally {
            proxy.resume();
        }
    }

    private void walk(int callers, IntConsumer armAfterWrites) throws Exception {
        int fired = 0;
        for (int writes = 0; writes < MOST_WRITES; writes++) {
            runAll(callers);
            armAfterWrites.accept(writes);
            runAll(callers);
            if (proxy.disarm()) {
                break;
            }
            fired++;
        }
        System.out.printf("%d callers: a fault at each of %d writes%n", callers, fired);
        assertThat(fired).as("a claim and a completion are at least two writes").isGreaterThanOrEqualTo(2);
    }

    private void runAll(int callers) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(callers);
        try {
            List<Future<?>> calls = new ArrayList<>();
            for (int i = 0; i < callers; i++) {
                calls.add(threads.submit(() -> runOnce(UUID.randomUUID().toString())));
            }
            for (Future<?> call : calls) {
                call.get();
            }
        } finally {
            threads.shutdown();
        }
    }

    private void runOnce(String key) {
        AtomicInteger runs = new AtomicInteger();
        byte[] first = value(call(key, runs));
        byte[] second = value(call(key, runs));

        assertThat(runs).hasValue(1);
        assertThat(second).isEqualTo(first);
    }

    private Outcome<byte[]> call(String key, AtomicInteger runs) {
        return hapax.scope("faults")
                .key(key)
                .run(lease -> ("run " + runs.incrementAndGet() + " " + lease.token()).getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] value(Outcome<byte[]> outcome) {
        return outcome.fold(
                executed -> {
                    assertThat(executed.recorded()).isTrue();
                    return executed.value();
                },
                replayed -> replayed.value(),
                inProgress -> {
                    throw new AssertionError("in progress");
                },
                mismatched -> {
                    throw new AssertionError("mismatched");
                },
                inDoubt -> {
                    throw new AssertionError("in doubt");
                });
    }
}
