package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Hapax;
import dev.hapax.Outcome;
import dev.hapax.Policy;
import dev.hapax.Task;
import dev.hapax.TerminalFailure;
import dev.hapax.WhenInFlight;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What reaches PostgreSQL: how many statements, and with which plans. */
@Timeout(120)
class StatementsTest {
    private final TestDatabase database = TestDatabase.migrated();
    private final HikariDataSource pool = database.pool(8);
    private final PostgresStore store = PostgresStore.over(pool);
    private final Hapax hapax = Hapax.on(store)
            .scope("statements", Policy.defaults().whenInFlight(WhenInFlight.waitAtMost(Duration.ofMinutes(1))))
            .withoutSweeper()
            .build();

    @AfterEach
    void close() {
        hapax.close();
        store.close();
        pool.close();
    }

    @Test
    void aThousandCallersOfOneKeyInFlightCostAtMostThreeStatementsWhileTheyWait() throws Exception {
        database.execute("CREATE EXTENSION pg_stat_statements; SELECT pg_stat_statements_reset()");
        CountDownLatch finish = new CountDownLatch(1);
        AtomicInteger runs = new AtomicInteger();
        List<Outcome<byte[]>> outcomes = Collections.synchronizedList(new ArrayList<>());
        List<Thread> callers = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            Thread caller = new Thread(
                    null,
                    () -> outcomes.add(hapax.scope("statements").key("popular").run(lease -> {
                        runs.incrementAndGet();
                        awaitQuietly(finish);
                        return new byte[] {42};
                    })),
                    "caller-" + i,
                    128 * 1024);
            caller.start();
            callers.add(caller);
        }
        Awaitility.await().until(() -> callers.stream().allMatch(caller -> caller.getState() == Thread.State.WAITING));

        assertThat(statements()).isLessThanOrEqualTo(3);
        finish.countDown();
        for (Thread caller : callers) {
            caller.join();
        }
        assertThat(runs).hasValue(1);
        assertThat(outcomes)
                .hasSize(1_000)
                .filteredOn(Outcome.Replayed.class::isInstance)
                .hasSize(999);
        assertThat(statements()).as("the completion, too").isLessThanOrEqualTo(5);
    }

    @Test
    void aBatchOfFiveHundredCallsIsClaimedByOneStatement() {
        database.execute("CREATE EXTENSION pg_stat_statements; SELECT pg_stat_statements_reset()");
        CompletableFuture<byte[]> running = new CompletableFuture<>();
        List<Task<byte[]>> tasks = IntStream.range(0, 500)
                .mapToObj(i -> new Task<>(hapax.scope("statements").key("batch-" + i), lease -> running, Runnable::run))
                .toList();

        List<CompletionStage<Outcome<byte[]>>> outcomes = hapax.runAll(tasks);
        Awaitility.await().until(() -> database.queryLong("SELECT count(*) FROM hapax_operation") == 500);

        assertThat(database.queryLong(
                        "SELECT sum(calls) FROM pg_stat_statements WHERE query LIKE 'INSERT INTO hapax%'"))
                .isEqualTo(1);
        running.complete(new byte[] {42});
        outcomes.forEach(
                outcome -> assertThat(outcome.toCompletableFuture().join()).isInstanceOf(Outcome.Executed.class));
    }

    @Test
    void callersThatDoNotBlockAreGroupedToo() {
        database.execute("CREATE EXTENSION pg_stat_statements; SELECT pg_stat_statements_reset()");
        List<CompletableFuture<Outcome<byte[]>>> calls = IntStream.range(0, 1_000)
                .mapToObj(i -> hapax.scope("statements")
                        .key("async-" + i)
                        .runAsync(lease -> CompletableFuture.completedFuture(new byte[0]), Runnable::run)
                        .toCompletableFuture())
                .toList();

        assertThat(calls).allSatisfy(call -> assertThat(call.join()).isInstanceOf(Outcome.Executed.class));
        assertThat(database.queryLong(
                        "SELECT sum(calls) FROM pg_stat_statements WHERE query LIKE '%hapax_operation%' AND calls > 0"))
                .as("claims and ends of a thousand operations")
                .isLessThan(400);
    }

    @Test
    void moreHandlersThanConnectionsRunAtOnce() throws Exception {
        CyclicBarrier allAtOnce = new CyclicBarrier(64);
        ExecutorService threads = Executors.newFixedThreadPool(64);
        List<Future<Outcome<byte[]>>> calls = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            String key = "slow-" + i;
            calls.add(threads.submit(() -> hapax.scope("statements").key(key).run(lease -> {
                allAtOnce.await();
                return new byte[0];
            })));
        }
        for (Future<Outcome<byte[]>> call : calls) {
            assertThat(call.get()).isInstanceOf(Outcome.Executed.class);
        }
        threads.shutdown();
    }

    @Test
    void plansDoNotDependOnStatistics() throws Exception {
        database.execute("VACUUM ANALYZE hapax_operation");
        database.execute("VACUUM ANALYZE hapax_event");
        long scansBefore = scans("seq_scan");
        useEverything();
        pool.close();

        Awaitility.await().untilAsserted(() -> assertThat(scans("idx_scan")).isGreaterThan(2_000));
        assertThat(scans("seq_scan")).isEqualTo(scansBefore);
        assertThat(database.queryLong("SELECT idx_tup_read FROM pg_stat_user_indexes "
                        + "WHERE indexrelname = 'hapax_operation_deadline'"))
                .as("rows read by their deadline, though none was past it")
                .isZero();
    }

    /** Far more than the five executions after which PostgreSQL may keep a plan. */
    private void useEverything() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(16);
        List<Future<?>> callers = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            callers.add(threads.submit(() -> {
                for (int n = 0; n < 40; n++) {
                    useAll(UUID.randomUUID().toString());
                }
                return null;
            }));
        }
        for (Future<?> caller : callers) {
            caller.get();
        }
        threads.shutdown();
        for (int n = 0; n < 20; n++) {
            useAll(UUID.randomUUID().toString());
        }
    }

    private void useAll(String key) throws Exception {
        var call = hapax.scope("statements").key(key);
        try {
            call.run(lease -> {
                throw new IllegalStateException("retryable");
            });
        } catch (IllegalStateException expected) {
            call.run(lease -> new byte[] {1});
        }
        call.run(lease -> new byte[] {2});
        call.find().toCompletableFuture().join();
        hapax.scope("statements").key(key + "-failed").run(lease -> {
            throw new TerminalFailure(402, "declined");
        });
        store.sweep(10).toCompletableFuture().join();
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            for (int i = 0; i < 2; i++) {
                hapax.transactional(store.enlist(connection))
                        .scope("statements")
                        .key(key + "-transactional")
                        .run(lease -> new byte[] {3});
            }
            connection.commit();
            connection.setAutoCommit(true);
        }
    }

    private long statements() {
        return database.queryLong("""
                SELECT coalesce(sum(calls), 0) FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
                WHERE d.datname = current_database() AND (query LIKE '%hapax_operation%' OR query LIKE '%set_config%')
                    AND query NOT LIKE '%pg_stat_statements%'""");
    }

    private long scans(String column) {
        return database.queryLong("SELECT sum(" + column + ") FROM pg_stat_user_tables WHERE relname LIKE 'hapax\\_%' "
                + "AND relname <> 'hapax_schema'");
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
