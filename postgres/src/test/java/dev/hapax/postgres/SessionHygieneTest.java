package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.ClaimTerms;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.Finish;
import dev.hapax.store.OperationKey;
import dev.hapax.store.Payload;
import dev.hapax.store.Release;
import dev.hapax.store.Renewal;
import dev.hapax.store.RenewalStatus;
import dev.hapax.store.Result;
import dev.hapax.store.StoreException;
import dev.hapax.store.StoreInspector.Search;
import dev.hapax.store.StoreUnavailableException;
import dev.hapax.store.WhenAbandoned;
import dev.hapax.store.Written;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;

/** The user's connections go back as they came, whatever was asked of the store and however it ended. */
@ParameterizedClass
@MethodSource("defaults")
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SessionHygieneTest {
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration RETENTION = Duration.ofHours(1);
    private static final int NETWORK_TIMEOUT = 54_321;
    private static final Result RESULT = Result.completed(Payload.of(new byte[] {1}));
    private static final TestDatabase DATABASE = TestDatabase.migrated();

    private final Defaults defaults;
    private Connection physical;
    private OneConnection pool;
    private PostgresStore store;
    private Leftovers before;

    /** How a pool hands its connections out. */
    record Defaults(boolean autoCommit, int isolation) {}

    /** What is to be seen of a connection from the outside, and what the session tells of itself. */
    private record Leftovers(
            boolean autoCommit,
            int isolation,
            boolean readOnly,
            int networkTimeout,
            TransactionState transaction,
            Map<String, String> session) {}

    SessionHygieneTest(Defaults defaults) {
        this.defaults = defaults;
    }

    static Stream<Defaults> defaults() {
        return Stream.of(
                        Connection.TRANSACTION_READ_COMMITTED,
                        Connection.TRANSACTION_REPEATABLE_READ,
                        Connection.TRANSACTION_SERIALIZABLE)
                .flatMap(isolation -> Stream.of(new Defaults(true, isolation), new Defaults(false, isolation)));
    }

    @BeforeEach
    void open() throws SQLException {
        DATABASE.execute("TRUNCATE hapax_operation, hapax_event");
        physical = DATABASE.unpooled().getConnection();
        Shop.execute(physical, "SET lock_timeout = '17s'; SET search_path = public, pg_catalog");
        Shop.execute(physical, "SET statement_timeout = '19s'; SET application_name = 'mine'");
        physical.setTransactionIsolation(defaults.isolation());
        physical.setAutoCommit(defaults.autoCommit());
        physical.setNetworkTimeout(Runnable::run, NETWORK_TIMEOUT);
        pool = new OneConnection(physical);
        store = PostgresStore.builder(pool)
                .maxConcurrentBatches(1)
                .lockTimeout(Duration.ofMillis(20))
                .lockWaitTimeout(Duration.ofMillis(50))
                .build();
        before = leftovers();
    }

    @AfterEach
    void nothingIsLeftBehind() throws SQLException {
        try (Connection held = pool.getConnection()) {
            assertThat(held.isClosed()).isFalse();
            assertThat(leftovers()).isEqualTo(before);
        } finally {
            store.close();
            physical.close();
        }
    }

    @Test
    void aFreshClaim() {
        won("k");
    }

    @Test
    void aReplayAMismatchAndARunningOne() {
        ClaimRequest owner = won("k");
        assertThat(claim(request("k"))).isInstanceOf(Claim.Running.class);
        finish(owner);
        assertThat(claim(request("k")))
                .isInstanceOfSatisfying(
                        Claim.Replay.class,
                        replay -> assertThat(replay.result()).isEqualTo(RESULT));
        ClaimRequest other = ClaimRequest.of(owner.key(), Fingerprint.of(new byte[] {1}), "another", owner.terms());
        assertThat(claim(other)).isEqualTo(new Claim.Mismatch());
    }

    @Test
    void aTakeOver() {
        won("k");
        DATABASE.letTimePass(LEASE);
        assertThat(claim(request("k"))).isInstanceOf(Claim.Won.class);
    }

    @Test
    void anExpiredOneBegunAnew() {
        finish(won("k"));
        DATABASE.letTimePass(RETENTION);
        assertThat(claim(request("k"))).isEqualTo(new Claim.Won(1, 2, null));
    }

    @Test
    void anAbandonedOneFailedOrParked() {
        for (WhenAbandoned whenAbandoned : List.of(WhenAbandoned.FAIL, WhenAbandoned.PARK)) {
            ClaimTerms terms = new ClaimTerms(LEASE, RETENTION, whenAbandoned, 3);
            OperationKey key = new OperationKey("", "s", whenAbandoned.name());
            claim(ClaimRequest.of(key, Fingerprint.NONE, "test", terms));
            DATABASE.letTimePass(LEASE);
            assertThat(claim(ClaimRequest.of(key, Fingerprint.NONE, "test", terms)))
                    .isNotInstanceOf(Claim.Won.class);
        }
    }

    @Test
    void aBatchOfClaims() {
        assertThat(batch(() -> claim(request(UUID.randomUUID().toString())))).containsOnly(new Claim.Won(1));
    }

    @Test
    void aBatchOfClaimsOfTheSameOperation() {
        assertThat(batch(() -> claim(request("k"))))
                .filteredOn(Claim.Won.class::isInstance)
                .hasSize(1);
    }

    @Test
    void aBatchOfRenewals() {
        List<Renewal> renewals = renewals(won("a"), request("unknown"), won("c"));
        assertThat(await(store.renew(renewals)))
                .containsExactly(RenewalStatus.RENEWED, RenewalStatus.LOST, RenewalStatus.RENEWED);
    }

    @Test
    void aFinishThatIsRecordedAndOneThatIsNot() {
        ClaimRequest owner = won("k");
        assertThat(finish(owner)).isEqualTo(Written.RECORDED);
        assertThat(finish(owner)).isEqualTo(Written.RECORDED);
        assertThat(finish(request("k"))).isEqualTo(Written.CLAIM_LOST);
    }

    @Test
    void aReleaseThatIsRecordedAndOneThatIsNot() {
        ClaimRequest owner = won("k");
        assertThat(release(owner)).isEqualTo(Written.RECORDED);
        assertThat(release(request("k"))).isEqualTo(Written.CLAIM_LOST);
    }

    @Test
    void aLook() {
        ClaimRequest owner = won("k");
        assertThat(await(store.find(Set.of(owner.id(), request("unknown").id()))))
                .containsOnlyKeys(owner.id());
    }

    @Test
    void aSweep() {
        won("k");
        DATABASE.letTimePass(LEASE);
        assertThat(await(store.sweep(100)).reopened()).isOne();
        assertThat(await(store.sweep(100)).total()).isZero();
    }

    @Test
    void whatAnOperatorDoes() {
        ClaimRequest owner = won("k");
        assertThat(store.inspector().search(Search.everything())).hasSize(1);
        assertThat(store.inspector().timeline(owner.id())).isNotEmpty();
        assertThat(store.inspector().forceRelease(owner.id(), owner.token(), "olga", "it hangs"))
                .isPresent();
        assertThat(store.inspector().resolve(owner.id(), RESULT, RETENTION, "olga"))
                .isEmpty();
    }

    @Test
    void anOperationLockedBySomebodyElse() throws SQLException {
        ClaimRequest owner = won("k");
        try (Connection other = lock(owner)) {
            assertThatExceptionOfType(CompletionException.class)
                    .isThrownBy(() -> finish(owner))
                    .withCauseInstanceOf(StoreUnavailableException.class);
            other.rollback();
        }
        assertThat(finish(owner)).isEqualTo(Written.RECORDED);
    }

    @Test
    void aBatchWithOneThatIsLocked() throws SQLException {
        ClaimRequest locked = won("a");
        List<Renewal> renewals = renewals(won("b"), locked, won("c"));
        try (Connection other = lock(locked)) {
            assertThat(await(store.renew(renewals)))
                    .containsExactly(RenewalStatus.RENEWED, RenewalStatus.UNKNOWN, RenewalStatus.RENEWED);
            other.rollback();
        }
    }

    @Test
    void aValueThatTheDatabaseRefuses() {
        ClaimRequest owner = won("k");
        Finish endless = new Finish(owner.id(), owner.token(), RESULT, Duration.ofMillis(Long.MAX_VALUE));
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(() -> await(store.finish(endless)))
                .withCauseExactlyInstanceOf(StoreException.class);
    }

    @Test
    void aBatchWithOneThatTheDatabaseRefuses() {
        ClaimRequest owner = won("k");
        List<Renewal> renewals = new ArrayList<>(renewals(won("b"), won("c")));
        renewals.add(new Renewal(owner.id(), owner.token(), Duration.ofMillis(Long.MAX_VALUE)));
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(() -> await(store.renew(renewals)))
                .withCauseExactlyInstanceOf(StoreException.class);
    }

    @Test
    void missingTables() {
        DATABASE.execute("ALTER TABLE hapax_operation RENAME TO gone");
        try {
            assertThatExceptionOfType(CompletionException.class)
                    .isThrownBy(() -> won("k"))
                    .withCauseExactlyInstanceOf(StoreException.class);
            assertThatExceptionOfType(CompletionException.class)
                    .isThrownBy(() -> await(store.renew(renewals(request("a"), request("b")))));
            assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> await(store.sweep(100)));
        } finally {
            DATABASE.execute("ALTER TABLE gone RENAME TO hapax_operation");
        }
    }

    @Test
    void aMigration() {
        PostgresSchema.migrate(pool);
    }

    /**
     * Whatever the pool's level is: under a stricter one, a claim that meets another would be a failure, not an answer.
     */
    @Test
    void ourWritesAreReadCommitted() {
        DATABASE.execute("""
                CREATE OR REPLACE FUNCTION check_isolation() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    IF current_setting('transaction_isolation') <> 'read committed' THEN
                        RAISE EXCEPTION 'written under %', current_setting('transaction_isolation');
                    END IF;
                    RETURN NULL;
                END $$;
                CREATE TRIGGER check_isolation AFTER INSERT OR UPDATE OR DELETE ON hapax_operation
                    FOR EACH STATEMENT EXECUTE FUNCTION check_isolation()""");
        try {
            ClaimRequest owner = won("k");
            await(store.renew(renewals(owner, request("unknown"))));
            assertThat(finish(owner)).isEqualTo(Written.RECORDED);
            await(store.sweep(100));
        } finally {
            DATABASE.execute("DROP TRIGGER check_isolation ON hapax_operation");
        }
    }

    private Leftovers leftovers() throws SQLException {
        boolean autoCommit = physical.getAutoCommit();
        TransactionState transaction = physical.unwrap(BaseConnection.class).getTransactionState();
        Leftovers leftovers = new Leftovers(
                autoCommit,
                physical.getTransactionIsolation(),
                physical.isReadOnly(),
                physical.getNetworkTimeout(),
                transaction,
                SessionState.of(physical));
        if (!autoCommit) {
            physical.rollback();
        }
        return leftovers;
    }

    /**
     * The first call finds the batcher idle and waits for the connection; the others queue behind it, and go together.
     */
    private <T> List<T> batch(Supplier<T> call) {
        List<CompletableFuture<T>> answers;
        try (Connection held = pool.getConnection()) {
            answers = IntStream.range(0, 8)
                    .mapToObj(i -> CompletableFuture.supplyAsync(call, task -> new Thread(task).start()))
                    .toList();
            Awaitility.await().until(() -> waitingThreads() >= answers.size());
            assertThat(held).isNotNull();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return answers.stream()
                .map(answer -> answer.orTimeout(30, TimeUnit.SECONDS).join())
                .toList();
    }

    private static long waitingThreads() {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(thread -> thread.getKey().getState() == Thread.State.WAITING)
                .filter(thread -> Stream.of(thread.getValue())
                        .anyMatch(frame -> frame.getClassName().equals(SessionHygieneTest.class.getName())))
                .count();
    }

    private static Connection lock(ClaimRequest owner) throws SQLException {
        Connection connection = DATABASE.unpooled().getConnection();
        connection.setAutoCommit(false);
        Shop.execute(connection, "SELECT 1 FROM hapax_operation WHERE id = '%s' FOR UPDATE".formatted(owner.id()));
        return connection;
    }

    private static ClaimRequest request(String key) {
        ClaimTerms terms = new ClaimTerms(LEASE, RETENTION, WhenAbandoned.RERUN, 3);
        return ClaimRequest.of(new OperationKey("", "s", key), Fingerprint.NONE, "test", terms);
    }

    private static List<Renewal> renewals(ClaimRequest... owners) {
        return Stream.of(owners)
                .map(owner -> new Renewal(owner.id(), owner.token(), LEASE))
                .toList();
    }

    private ClaimRequest won(String key) {
        ClaimRequest request = request(key);
        assertThat(claim(request)).isEqualTo(new Claim.Won(1));
        return request;
    }

    private Claim claim(ClaimRequest request) {
        return await(store.claim(request));
    }

    private Written finish(ClaimRequest owner) {
        return await(store.finish(new Finish(owner.id(), owner.token(), RESULT, RETENTION)));
    }

    private Written release(ClaimRequest owner) {
        return await(store.release(
                new Release(owner.id(), owner.token(), Release.Kind.TRY_AGAIN, RETENTION, "for the test")));
    }

    private static <T> T await(CompletionStage<T> stage) {
        return stage.toCompletableFuture().join();
    }
}
