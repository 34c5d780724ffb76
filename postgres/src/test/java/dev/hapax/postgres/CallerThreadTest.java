package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.ClaimTerms;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.OperationId;
import dev.hapax.store.OperationKey;
import dev.hapax.store.StoreUnavailableException;
import dev.hapax.store.WhenAbandoned;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** What callers' threads do for others, and what happens to others when something happens to such a thread. */
@Timeout(60)
class CallerThreadTest {
    private static final Duration LOCK_TIMEOUT = Duration.ofMillis(100);

    private final TestDatabase database = TestDatabase.migrated();
    private final ScheduledExecutorService workers = Executors.newScheduledThreadPool(2);

    /** Fails as soon as its user is interrupted, as pools and sockets of virtual threads do. */
    private static final class Interruptible extends WatchedDataSource {
        private static final long serialVersionUID = 1L;

        private transient Thread victim;

        Interruptible(DataSource dataSource) {
            super(dataSource);
        }

        @Override
        void beforeStatement() throws SQLException {
            if (Thread.currentThread() == victim) {
                victim.interrupt();
                throw new SQLException("closed by an interrupt", "08006");
            }
        }
    }

    /** Claims; while the caller's request is taken, the others' requests come. */
    private static final class ClaimsTogether implements BatchWork<ClaimRequest, Claim> {
        private final ClaimBatch claims = new ClaimBatch(LOCK_TIMEOUT, new ReplayRatio());
        private Runnable onTaken = () -> {};

        @Override
        public OperationId id(ClaimRequest request) {
            return request.id();
        }

        @Override
        public int weight(ClaimRequest request) {
            Runnable once = onTaken;
            onTaken = () -> {};
            once.run();
            return 0;
        }

        @Override
        public boolean isRefusedInOpenTransaction() {
            return claims.isRefusedInOpenTransaction();
        }

        @Override
        public Duration lockWaitTimeout(ClaimRequest request) {
            return request.timeout();
        }

        @Override
        public List<Decision<Claim>> run(Session session, LockWait wait, List<ClaimRequest> requests)
                throws SQLException {
            return claims.run(session, wait, requests);
        }
    }

    @AfterEach
    void close() {
        workers.shutdownNow();
    }

    @Test
    void interruptedBatchIsFinishedByAWorker() {
        Interruptible dataSource = new Interruptible(database.unpooled());
        dataSource.victim = Thread.currentThread();
        ClaimsTogether work = new ClaimsTogether();
        Batcher<ClaimRequest, Claim> batcher = new Batcher<>(work, settings(dataSource));
        CompletableFuture<CompletableFuture<Claim>> others = new CompletableFuture<>();
        work.onTaken = () -> others.complete(batcher.submit(request("other")));

        CompletableFuture<Claim> mine = batcher.submitAndWait(request("mine"));

        assertThat(Thread.interrupted())
                .as("the interrupt is kept for the caller")
                .isTrue();
        assertThat(others.join()).succeedsWithin(Duration.ofSeconds(60)).isEqualTo(new Claim.Won(1));
        assertThat(mine).succeedsWithin(Duration.ofSeconds(60)).isEqualTo(new Claim.Won(1));
        assertThat(dataSource.users()).contains(Thread.currentThread()).hasSize(2);
    }

    @Test
    void interruptWhileThePoolIsEmptyFailsNobodyElse() throws Exception {
        try (HikariDataSource pool = TestDatabase.pool(database.jdbcUrl(), 1)) {
            ClaimsTogether work = new ClaimsTogether();
            Batcher<ClaimRequest, Claim> batcher = new Batcher<>(work, settings(pool));
            CompletableFuture<CompletableFuture<Claim>> others = new CompletableFuture<>();
            work.onTaken = () -> others.complete(batcher.submit(request("other")));
            Thread caller = new Thread(() -> batcher.submitAndWait(request("mine")));
            try (Connection last = pool.getConnection()) {
                caller.start();
                Awaitility.await().until(() -> pool.getHikariPoolMXBean().getThreadsAwaitingConnection() == 1);
                caller.interrupt();
                caller.join();
                assertThat(last.isValid(5)).isTrue();
            }

            assertThat(others.join()).succeedsWithin(Duration.ofSeconds(60)).isEqualTo(new Claim.Won(1));
        }
    }

    @Test
    void openTransactionOfTheSenderFailsNobodyElse() throws SQLException {
        ClaimsTogether work = new ClaimsTogether();
        try (Connection open = database.unpooled().getConnection()) {
            open.setAutoCommit(false);
            Shop.execute(open, "SELECT 1");
            Thread caller = Thread.currentThread();
            DataSource bound = new WatchedDataSource(database.unpooled()) {
                private static final long serialVersionUID = 1L;

                @Override
                public Connection getConnection() throws SQLException {
                    return Thread.currentThread() == caller ? open : super.getConnection();
                }
            };
            Batcher<ClaimRequest, Claim> batcher = new Batcher<>(work, settings(bound));
            CompletableFuture<CompletableFuture<Claim>> others = new CompletableFuture<>();
            work.onTaken = () -> others.complete(batcher.submit(request("other")));

            CompletableFuture<Claim> mine = batcher.submitAndWait(request("mine"));

            assertThat(others.join()).succeedsWithin(Duration.ofSeconds(60)).isEqualTo(new Claim.Won(1));
            assertThat(mine)
                    .failsWithin(Duration.ofSeconds(60))
                    .withThrowableOfType(ExecutionException.class)
                    .withCauseInstanceOf(OpenTransactionException.class);
        }
    }

    @Test
    void storeCanBeKeptOffCallersThreads() {
        WatchedDataSource dataSource = new WatchedDataSource(database.unpooled());
        try (PostgresStore store =
                PostgresStore.builder(dataSource).callerThreads(false).build()) {
            store.forBlockingCallers().claim(request("k")).toCompletableFuture().join();
        }
        assertThat(dataSource.users()).isNotEmpty().doesNotContain(Thread.currentThread());
    }

    @Test
    void requestIsRefusedRatherThanSentByAForbiddenThread() {
        WatchedDataSource dataSource = new WatchedDataSource(database.unpooled());
        Executor noThreads = task -> {
            throw new OutOfMemoryError("unable to create native thread");
        };
        BatcherSettings settings =
                new BatcherSettings(new Sessions(dataSource, Duration.ofSeconds(10)), 512, noThreads, workers, false);
        Batcher<ClaimRequest, Claim> batcher = new Batcher<>(new ClaimsTogether(), settings);

        for (String key : List.of("first", "second")) {
            assertThat(batcher.submit(request(key)))
                    .failsWithin(Duration.ofSeconds(60))
                    .withThrowableOfType(ExecutionException.class)
                    .withCauseInstanceOf(StoreUnavailableException.class);
        }
        assertThat(dataSource.users()).isEmpty();
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void virtualThreadLeavesTheBatchToAWorker() throws Exception {
        WatchedDataSource dataSource = new WatchedDataSource(database.unpooled());
        try (PostgresStore store = PostgresStore.over(dataSource)) {
            CompletableFuture<Claim> claim = new CompletableFuture<>();
            CompletableFuture<Thread> caller = new CompletableFuture<>();
            Runnable claiming = () -> {
                caller.complete(Thread.currentThread());
                claim.complete(store.forBlockingCallers()
                        .claim(request("k"))
                        .toCompletableFuture()
                        .join());
            };
            Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, claiming);

            assertThat(claim).succeedsWithin(Duration.ofSeconds(60)).isEqualTo(new Claim.Won(1));
            assertThat(dataSource.users()).isNotEmpty().doesNotContain(caller.join());
        }
    }

    @Test
    void platformThreadSendsItsOwnRequestItself() {
        WatchedDataSource dataSource = new WatchedDataSource(database.unpooled());
        try (PostgresStore store = PostgresStore.over(dataSource)) {
            store.forBlockingCallers().claim(request("k")).toCompletableFuture().join();
        }
        assertThat(dataSource.users()).containsOnly(Thread.currentThread());
    }

    private BatcherSettings settings(DataSource dataSource) {
        return new BatcherSettings(new Sessions(dataSource, Duration.ofSeconds(10)), 512, workers, workers, true);
    }

    private static ClaimRequest request(String key) {
        ClaimTerms terms = new ClaimTerms(Duration.ofSeconds(30), Duration.ofHours(1), WhenAbandoned.RERUN, 3);
        return ClaimRequest.of(new OperationKey("", "s", key), Fingerprint.NONE, "test", terms);
    }
}
