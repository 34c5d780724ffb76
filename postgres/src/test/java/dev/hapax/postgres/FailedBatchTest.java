package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.ClaimTerms;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.OperationId;
import dev.hapax.store.OperationKey;
import dev.hapax.store.Renewal;
import dev.hapax.store.RenewalStatus;
import dev.hapax.store.StoreException;
import dev.hapax.store.StoreUnavailableException;
import dev.hapax.store.WhenAbandoned;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

/** A batch that fails for one request's sake is done row by row: what that costs, and who hears of it when. */
@Timeout(60)
class FailedBatchTest {
    private static final Duration LEASE = Duration.ofSeconds(30);

    private final TestDatabase database = TestDatabase.migrated();
    private final WatchedDataSource dataSource = new WatchedDataSource(database.unpooled());
    private final ScheduledExecutorService workers = Executors.newScheduledThreadPool(4);
    private final AtomicInteger runs = new AtomicInteger();

    /** What happens to one request; whatever happens fails a batch of several. */
    private interface Row {
        String answer() throws SQLException;
    }

    private class Rows implements BatchWork<Row, String> {
        @Override
        public OperationId id(Row row) {
            return new OperationId(new UUID(0, 0));
        }

        @Override
        public Duration lockWaitTimeout(Row row) {
            return Duration.ofSeconds(30);
        }

        @Override
        public List<Decision<String>> run(Session session, LockWait wait, List<Row> rows) throws SQLException {
            runs.incrementAndGet();
            if (rows.size() > 1) {
                throw new SQLException("one of them cannot be stored", "22000");
            }
            return List.of(Decision.answer(rows.get(0).answer()));
        }
    }

    @AfterEach
    void close() {
        workers.shutdownNow();
    }

    @Test
    void failedBatchTakesOneConnectionForItsRows() {
        try (PostgresStore store = PostgresStore.over(dataSource)) {
            List<ClaimRequest> owners = claimAll(store, 20);
            int before = dataSource.checkouts();
            List<Renewal> renewals = new ArrayList<>(owners.stream()
                    .map(owner -> new Renewal(owner.id(), owner.token(), Duration.ofHours(1)))
                    .toList());
            Renewal endless = new Renewal(owners.get(0).id(), owners.get(0).token(), Duration.ofMillis(Long.MAX_VALUE));
            renewals.set(0, endless);

            assertThat(store.renew(renewals).toCompletableFuture())
                    .failsWithin(Duration.ofSeconds(60))
                    .withThrowableOfType(ExecutionException.class)
                    .withCauseExactlyInstanceOf(StoreException.class);

            assertThat(dataSource.checkouts() - before)
                    .as("for the batch, and for its rows")
                    .isEqualTo(2);
            assertThat(database.queryLong(
                            "SELECT count(*) FROM hapax_operation WHERE deadline > now() + interval '30 minutes'"))
                    .isEqualTo(19);
        }
    }

    @Test
    void unavailableBatchLeavesOtherRenewalsAlone() {
        AtomicInteger connections = new AtomicInteger();
        DataSource failsOnce = new WatchedDataSource(database.unpooled()) {
            private static final long serialVersionUID = 1L;

            @Override
            public Connection getConnection() throws SQLException {
                if (connections.incrementAndGet() == 4) { // two claims and a renewal come first
                    throw new SQLException("gone", "08006");
                }
                return super.getConnection();
            }
        };
        try (PostgresStore store =
                PostgresStore.builder(failsOnce).maxBatchSize(1).build()) {
            await(store.claim(request("k0")));
            await(store.claim(request("k1")));
            List<Renewal> renewals = Stream.of("k0", "k1", "k2")
                    .map(key -> new Renewal(request(key).id(), tokenOf(key), LEASE))
                    .toList();

            assertThat(await(store.renew(renewals)))
                    .containsExactly(RenewalStatus.RENEWED, RenewalStatus.UNKNOWN, RenewalStatus.LOST);
        }
    }

    @Test
    void lockedRenewalIsNoWarning() throws SQLException {
        Logger logger = (Logger) LoggerFactory.getLogger(Batcher.class);
        ListAppender<ILoggingEvent> appender = new ListAppender<>();
        appender.start();
        logger.addAppender(appender);
        logger.setLevel(Level.WARN);
        try (PostgresStore store = PostgresStore.over(dataSource)) {
            await(store.claim(request("k0")));
            try (Connection foreign = lock("k0")) {
                Renewal renewal = new Renewal(request("k0").id(), tokenOf("k0"), LEASE);
                assertThat(await(store.renew(List.of(renewal)))).containsExactly(RenewalStatus.UNKNOWN);
                foreign.rollback();
            }
        } finally {
            logger.setLevel(null);
            logger.detachAppender(appender);
        }
        assertThat(appender.list).isEmpty();
    }

    /** What is left of a batch is told when an Error strikes while its requests are notified. */
    @Test
    void errorWhileNotifyingLeavesNobodyWaiting() {
        Rows failing = new Rows() {
            @Override
            public Duration lockWaitTimeout(Row row) {
                throw new StackOverflowError("for the test");
            }
        };
        Row locked = () -> {
            throw new SQLException("locked", "55P03");
        };
        List<CompletableFuture<String>> answers = new Batcher<>(failing, settings()).submitAll(List.of(locked, locked));

        assertThat(answers)
                .allSatisfy(answer -> assertThat(answer)
                        .failsWithin(Duration.ofSeconds(60))
                        .withThrowableOfType(ExecutionException.class)
                        .withCauseInstanceOf(StoreUnavailableException.class));
    }

    /** One request's Error does not keep those that are due with it from being tried again. */
    @Test
    void errorOfARetryLeavesTheOthersToBeRetried() throws Exception {
        CountDownLatch retried = new CountDownLatch(3);
        ScheduledExecutorService retryThread = Executors.newSingleThreadScheduledExecutor();
        try {
            LockedRequests<String, String> locked = new LockedRequests<>(retryThread, 1, batch -> {
                retried.countDown();
                throw new StackOverflowError("for the test");
            });
            retryThread.execute(() -> {
                for (String request : List.of("a", "b", "c")) {
                    locked.add(PendingRequest.of(request), Duration.ZERO);
                }
            });
            assertThat(retried.await(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            retryThread.shutdownNow();
        }
    }

    @Test
    void decidedRequestIsAnsweredBeforeTheNextIsDone() throws Exception {
        CountDownLatch firstIsAnswered = new CountDownLatch(1);
        List<CompletableFuture<String>> answers = submit(() -> "first", () -> {
            try {
                return firstIsAnswered.await(60, TimeUnit.SECONDS) ? "second" : "alone";
            } catch (InterruptedException e) {
                throw new SQLException(e);
            }
        });
        answers.get(0).thenRun(firstIsAnswered::countDown);

        assertThat(answers.get(1)).succeedsWithin(Duration.ofSeconds(60)).isEqualTo("second");
    }

    @Test
    void databaseGoingAwayRefusesTheRestAtOnce() {
        Row gone = () -> {
            throw new SQLException("gone", "08006");
        };
        Row[] rows = Stream.concat(
                        Stream.of(() -> "first", gone),
                        Stream.generate(() -> (Row) () -> "too late").limit(50))
                .toArray(Row[]::new);

        List<CompletableFuture<String>> answers = submit(rows);

        assertThat(answers.get(0)).succeedsWithin(Duration.ofSeconds(60)).isEqualTo("first");
        assertThat(answers.subList(1, answers.size()))
                .allSatisfy(answer -> assertThat(answer)
                        .failsWithin(Duration.ofSeconds(60))
                        .withThrowableOfType(ExecutionException.class)
                        .withCauseInstanceOf(StoreUnavailableException.class));
        assertThat(runs).as("the batch, and two rows").hasValue(3);
    }

    /** The row is read without waiting for its lock; only taking it over waits. */
    @Test
    void lockedTakeOverLeavesNeighboursTheirWins() throws SQLException {
        try (PostgresStore store = PostgresStore.over(dataSource)) {
            await(store.claim(request("a")));
            database.letTimePass(LEASE);
            try (Connection foreign = lock("a")) {
                List<CompletionStage<Claim>> claims = store.claimAll(List.of(request("a"), request("b"), request("c")));

                assertThat(await(claims.get(1))).isEqualTo(new Claim.Won(1));
                assertThat(await(claims.get(2))).isEqualTo(new Claim.Won(1));
                assertThat(database.queryLong(
                                "SELECT count(DISTINCT xmin::text) FROM hapax_operation WHERE key IN ('b', 'c')"))
                        .as("transactions that wrote the neighbours")
                        .isOne();
                assertThat(claims.get(0).toCompletableFuture()).isNotDone();
                foreign.rollback();
                assertThat(await(claims.get(0)))
                        .isInstanceOfSatisfying(
                                Claim.Won.class,
                                won -> assertThat(won.attempt()).isEqualTo(2));
            }
        }
    }

    private List<CompletableFuture<String>> submit(Row... rows) {
        return new Batcher<>(new Rows(), settings()).submitAll(List.of(rows));
    }

    private BatcherSettings settings() {
        return new BatcherSettings(new Sessions(dataSource, Duration.ofSeconds(10)), 512, workers, workers, true);
    }

    private UUID tokenOf(String key) {
        return UUID.fromString(database.query(
                "SELECT coalesce((SELECT token FROM hapax_operation WHERE key = '%s'), gen_random_uuid())"
                        .formatted(key)));
    }

    private static List<ClaimRequest> claimAll(PostgresStore store, int count) {
        List<ClaimRequest> requests =
                IntStream.range(0, count).mapToObj(i -> request("k" + i)).toList();
        store.claimAll(requests).forEach(claim -> assertThat(await(claim)).isEqualTo(new Claim.Won(1)));
        return requests;
    }

    private Connection lock(String key) throws SQLException {
        Connection connection = database.unpooled().getConnection();
        connection.setAutoCommit(false);
        Shop.execute(connection, "SELECT 1 FROM hapax_operation WHERE key = '%s' FOR UPDATE".formatted(key));
        return connection;
    }

    private static ClaimRequest request(String key) {
        ClaimTerms terms = new ClaimTerms(LEASE, Duration.ofHours(1), WhenAbandoned.RERUN, 3);
        return ClaimRequest.of(new OperationKey("", "s", key), Fingerprint.NONE, "test", terms);
    }

    private static <T> T await(CompletionStage<T> stage) {
        return stage.toCompletableFuture().join();
    }
}
