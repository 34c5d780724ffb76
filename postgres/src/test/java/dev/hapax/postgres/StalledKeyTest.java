package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Hapax;
import dev.hapax.Outcome;
import dev.hapax.Policy;
import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.ClaimTerms;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.Finish;
import dev.hapax.store.OperationKey;
import dev.hapax.store.Renewal;
import dev.hapax.store.RenewalStatus;
import dev.hapax.store.Result;
import dev.hapax.store.StoreUnavailableException;
import dev.hapax.store.WhenAbandoned;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A foreign transaction that sits on one row holds up that operation, and no other. */
@Timeout(120)
class StalledKeyTest {
    private final TestDatabase database = TestDatabase.migrated();
    private final HikariDataSource pool = database.pool(8);
    private final PostgresStore store = PostgresStore.over(pool);
    private final Hapax hapax =
            Hapax.on(store).scope("stall", Policy.defaults()).withoutSweeper().build();
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void close() {
        threads.shutdownNow();
        hapax.close();
        store.close();
        pool.close();
    }

    @Test
    void aLockedRowDelaysNobodyElsesCompletionAndFailsNobody() throws Exception {
        CountDownLatch claimed = new CountDownLatch(1);
        CountDownLatch locked = new CountDownLatch(1);
        Future<Outcome<byte[]>> stalled =
                threads.submit(() -> hapax.scope("stall").key("stalled").run(lease -> {
                    claimed.countDown();
                    locked.await();
                    return new byte[] {1};
                }));
        claimed.await();
        try (Connection foreign = begin("SELECT FROM hapax_operation WHERE key = 'stalled' FOR UPDATE")) {
            locked.countDown();
            runOthers();
            assertThat(stalled).isNotDone();
            foreign.rollback();
        }
        assertThat(stalled.get())
                .isInstanceOfSatisfying(
                        Outcome.Executed.class,
                        executed -> assertThat(executed.recorded()).isTrue());
    }

    @Test
    void anUncommittedRowDelaysNobodyElsesClaimAndFailsNobody() throws Exception {
        hapax.scope("stall").key("stalled").run(lease -> new byte[] {1});
        database.execute("CREATE TABLE copy AS SELECT * FROM hapax_operation; TRUNCATE hapax_operation");
        try (Connection foreign = begin("INSERT INTO hapax_operation SELECT * FROM copy")) {
            Future<Outcome<byte[]>> stalled =
                    threads.submit(() -> hapax.scope("stall").key("stalled").run(lease -> new byte[] {2}));
            runOthers();
            assertThat(stalled).isNotDone();
            foreign.commit();

            assertThat(stalled.get())
                    .isInstanceOfSatisfying(
                            Outcome.Replayed.class,
                            replayed -> assertThat((byte[]) replayed.value()).containsExactly(1));
        }
    }

    @Test
    void aLockedRowHoldsUpNobodyElsesRenewal() throws Exception {
        List<ClaimRequest> owners = new ArrayList<>();
        for (String key : List.of("stalled", "other-1", "other-2")) {
            ClaimTerms terms = new ClaimTerms(Duration.ofSeconds(30), Duration.ofDays(1), WhenAbandoned.RERUN, 10);
            ClaimRequest owner = ClaimRequest.of(new OperationKey("", "stall", key), Fingerprint.NONE, "owner", terms);
            store.claim(owner).toCompletableFuture().join();
            owners.add(owner);
        }
        try (Connection foreign = begin("SELECT FROM hapax_operation WHERE key = 'stalled' FOR UPDATE")) {
            List<Renewal> renewals = owners.stream()
                    .map(owner -> new Renewal(owner.id(), owner.token(), Duration.ofHours(1)))
                    .toList();

            assertThat(store.renew(renewals).toCompletableFuture())
                    .succeedsWithin(Duration.ofMinutes(1))
                    .isEqualTo(List.of(RenewalStatus.UNKNOWN, RenewalStatus.RENEWED, RenewalStatus.RENEWED));
            assertThat(database.queryLong(
                            "SELECT count(*) FROM hapax_operation WHERE deadline > now() + interval '30 minutes'"))
                    .isEqualTo(2);
            foreign.rollback();
        }
    }

    /** The owner came late, but not too late to say that it had not begun. */
    @Test
    void whatIsReleasedWhileAnotherIsAboutToParkItIsNotParked() throws Exception {
        ClaimTerms terms = new ClaimTerms(Duration.ofSeconds(30), Duration.ofDays(1), WhenAbandoned.PARK, 10);
        OperationKey key = new OperationKey("", "stall", "late");
        store.claim(ClaimRequest.of(key, Fingerprint.NONE, "owner", terms))
                .toCompletableFuture()
                .join();
        database.letTimePass(Duration.ofMinutes(1));
        try (Connection foreign = begin("UPDATE hapax_operation SET state = 0, attempt = 0 WHERE key = 'late'")) {
            ClaimBatch claims = new ClaimBatch(Duration.ofMinutes(1), highReplayRatio());
            ClaimRequest request = ClaimRequest.of(key, Fingerprint.NONE, "other", terms);
            Future<List<Decision<Claim>>> other = threads.submit(() -> new Sessions(pool, Duration.ofMinutes(1))
                    .call(session -> claims.run(session, LockWait.SHORT, List.of(request))));
            Awaitility.await()
                    .pollInterval(Duration.ofMillis(5))
                    .until(() -> database.queryLong("SELECT count(*) FROM pg_locks WHERE NOT granted") > 0);
            foreign.commit();

            assertThat(other.get()).containsExactly(Decision.answer(new Claim.Won(1)));
        }
    }

    /** Has claims look before they insert, for the insert would wait for the row as well. */
    private static ReplayRatio highReplayRatio() {
        ReplayRatio replayRatio = new ReplayRatio();
        while (!replayRatio.isHigh()) {
            Claim.Kept kept = new Claim.Kept(Instant.EPOCH, Instant.EPOCH, Duration.ZERO);
            replayRatio.learn(List.of(Decision.answer(new Claim.Replay(Result.abandoned(), kept))));
        }
        return replayRatio;
    }

    @Test
    void finishOfARowThatStaysLockedFails() throws Exception {
        PostgresStore impatient = PostgresStore.builder(pool)
                .lockWaitTimeout(Duration.ofMillis(300))
                .build();
        ClaimTerms terms = new ClaimTerms(Duration.ofMinutes(5), Duration.ofDays(1), WhenAbandoned.RERUN, 10);
        ClaimRequest owner =
                ClaimRequest.of(new OperationKey("", "stall", "stalled"), Fingerprint.NONE, "owner", terms);
        impatient.claim(owner).toCompletableFuture().join();
        try (Connection foreign = begin("SELECT FROM hapax_operation WHERE key = 'stalled' FOR UPDATE")) {
            Finish finish = new Finish(owner.id(), owner.token(), Result.abandoned(), Duration.ofDays(1));

            assertThat(impatient.finish(finish).toCompletableFuture())
                    .failsWithin(Duration.ofMinutes(1))
                    .withThrowableThat()
                    .havingCause()
                    .isInstanceOf(StoreUnavailableException.class)
                    .withMessageContaining("55P03");
            foreign.rollback();
        }
    }

    /** Enough of them that every batcher is used many times. */
    private void runOthers() throws Exception {
        List<Future<?>> others = new ArrayList<>();
        for (int caller = 0; caller < 16; caller++) {
            others.add(threads.submit(() -> {
                for (int i = 0; i < 20; i++) {
                    Outcome<byte[]> outcome = hapax.scope("stall")
                            .key(UUID.randomUUID().toString())
                            .run(lease -> new byte[0]);
                    assertThat(outcome).isInstanceOf(Outcome.Executed.class);
                }
            }));
        }
        for (Future<?> other : others) {
            other.get();
        }
    }

    private Connection begin(String sql) throws SQLException {
        Connection connection = database.unpooled().getConnection();
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
        return connection;
    }
}
