package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.hapax.Call;
import dev.hapax.ClaimLostException;
import dev.hapax.Hapax;
import dev.hapax.Outcome;
import dev.hapax.Policy;
import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.ClaimTerms;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.Finish;
import dev.hapax.store.Payload;
import dev.hapax.store.Release;
import dev.hapax.store.Renewal;
import dev.hapax.store.RenewalStatus;
import dev.hapax.store.Result;
import dev.hapax.store.StoreUnavailableException;
import dev.hapax.store.WhenAbandoned;
import dev.hapax.store.Written;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Both modes on the same key: whatever the order, one effect is committed, and the record is its own. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TransactionalWithLeasesTest {
    private static final Shop SHOP = new Shop(4);
    private static final Result RESULT = Result.completed(Payload.of(new byte[] {'l', 'e', 'a', 's', 'e'}));

    private final String key = UUID.randomUUID().toString();

    @AfterAll
    static void close() {
        SHOP.close();
    }

    @Test
    void aRunningLeaseIsInProgress() throws SQLException {
        SHOP.leased(key).run(lease -> {
            assertThat(SHOP.orderAndCommit(key)).isInstanceOf(Outcome.InProgress.class);
            return "done";
        });

        assertThat(SHOP.orderAndCommit(key)).isInstanceOf(Outcome.Replayed.class);
        assertThat(SHOP.orders(key)).isZero();
    }

    @Test
    void aLeasedCallReplaysWhatATransactionRecorded() throws SQLException {
        SHOP.orderAndCommit(key);

        assertThat(SHOP.leased(key).run(lease -> "ran twice"))
                .isInstanceOfSatisfying(
                        Outcome.Replayed.class, it -> assertThat(it.value()).isEqualTo("ordered " + key));
    }

    @Test
    void aReleasedOperationIsTakenOver() throws SQLException {
        assertThatIllegalStateException()
                .isThrownBy(() -> SHOP.leased(key).run(lease -> {
                    throw new IllegalStateException("try again");
                }));

        assertExecuted(SHOP.orderAndCommit(key), 2);
        assertThat(SHOP.orders(key)).isOne();
        assertThat(SHOP.records(key)).isOne();
    }

    @Test
    void aTakeOverThatIsRolledBackLeavesTheOperationPending() throws SQLException {
        ClaimRequest owner = won(WhenAbandoned.RERUN);
        release(owner);
        try (Connection connection = SHOP.transaction()) {
            assertExecuted(SHOP.order(connection, key), 2);
            connection.rollback();
        }

        assertExecuted(SHOP.orderAndCommit(key), 2);
    }

    @Test
    void anAbandonedOperationIsTakenOverAndItsOldOwnerHasLost() throws SQLException {
        ClaimRequest owner = won(WhenAbandoned.RERUN);
        SHOP.database.letTimePass(Shop.LEASE);

        assertExecuted(SHOP.orderAndCommit(key), 2);

        assertThat(finish(owner)).isEqualTo(Written.CLAIM_LOST);
        assertThat(release(owner)).isEqualTo(Written.CLAIM_LOST);
    }

    @Test
    void anOldOwnerThatFinishesFirstIsNotOverwritten() throws SQLException {
        ClaimRequest owner = won(WhenAbandoned.RERUN);
        SHOP.database.letTimePass(Shop.LEASE);

        assertClaimLostWhen(() -> assertThat(finish(owner)).isEqualTo(Written.RECORDED));

        assertThat(claimAgain(owner))
                .isInstanceOfSatisfying(
                        Claim.Replay.class,
                        replay -> assertThat(replay.result()).isEqualTo(RESULT));
    }

    @Test
    void anOldOwnerThatRenewsFirstKeepsItsClaim() throws SQLException {
        ClaimRequest owner = won(WhenAbandoned.RERUN);
        SHOP.database.letTimePass(Shop.LEASE);

        assertClaimLostWhen(() -> assertThat(
                        await(SHOP.store.renew(List.of(new Renewal(owner.id(), owner.token(), Shop.LEASE)))))
                .containsExactly(RenewalStatus.RENEWED));

        assertThat(finish(owner)).isEqualTo(Written.RECORDED);
    }

    @Test
    void aLeaseClaimedBetweenLookAndFinishWins() throws SQLException {
        ClaimRequest sneaky = request(WhenAbandoned.RERUN);

        assertClaimLostWhen(() -> assertThat(await(SHOP.store.claim(sneaky))).isEqualTo(new Claim.Won(1)));

        assertThat(finish(sneaky)).isEqualTo(Written.RECORDED);
    }

    @Test
    void aLeaseFinishedBetweenLookAndFinishWins() throws SQLException {
        assertClaimLostWhen(() -> SHOP.leased(key).run(lease -> "leased"));

        assertThat(SHOP.orderAndCommit(key))
                .isInstanceOfSatisfying(
                        Outcome.Replayed.class, it -> assertThat(it.value()).isEqualTo("leased"));
    }

    @Test
    void aLeaseThatTakesThePendingOperationBetweenLookAndFinishWins() throws SQLException {
        release(won(WhenAbandoned.RERUN));

        assertClaimLostWhen(() -> SHOP.leased(key).run(lease -> "leased"));

        assertThat(SHOP.orderAndCommit(key)).isInstanceOf(Outcome.Replayed.class);
    }

    @Test
    void anExpiredOperationBegunAnewBetweenLookAndFinishWins() throws SQLException {
        finish(won(WhenAbandoned.RERUN));
        SHOP.database.letTimePass(Shop.RETENTION);

        assertClaimLostWhen(() -> SHOP.leased(key).run(lease -> "leased"));
    }

    @Test
    void sweepBetweenLookAndFinishKeepsTheSuccess() throws SQLException {
        ClaimRequest before = won(WhenAbandoned.RERUN);
        finish(before);
        SHOP.database.letTimePass(Shop.RETENTION);
        try (Connection connection = SHOP.transaction()) {
            Outcome<String> outcome = SHOP.within(connection, key).run(lease -> {
                Shop.place(connection, key);
                assertThat(await(SHOP.store.sweep(100)).removed()).isPositive();
                assertThat(SHOP.records(key)).isZero();
                return "ordered";
            });
            assertExecuted(outcome, 1);
            connection.commit();
        }

        assertThat(SHOP.orders(key)).isOne();
        assertThat(generation(before)).isEqualTo(2);
        assertThat(SHOP.orderAndCommit(key)).isInstanceOf(Outcome.Replayed.class);
    }

    /** To reopen an abandoned operation gives it to nobody, so it is still the transaction's to take over. */
    @Test
    void sweepOfAnAbandonedOperationKeepsTheSuccess() throws SQLException {
        won(WhenAbandoned.RERUN);
        SHOP.database.letTimePass(Shop.LEASE);
        try (Connection connection = SHOP.transaction()) {
            Outcome<String> outcome = SHOP.within(connection, key).run(lease -> {
                Shop.place(connection, key);
                assertThat(await(SHOP.store.sweep(100)).reopened()).isPositive();
                return "ordered";
            });
            assertExecuted(outcome, 2);
            connection.commit();
        }

        assertThat(SHOP.orders(key)).isOne();
        assertThat(SHOP.orderAndCommit(key)).isInstanceOf(Outcome.Replayed.class);
    }

    @Test
    void attemptMadeAfterASweepWins() throws SQLException {
        won(WhenAbandoned.RERUN);
        SHOP.database.letTimePass(Shop.LEASE);
        ClaimRequest sneaky = request(WhenAbandoned.RERUN);

        assertClaimLostWhen(() -> {
            assertThat(await(SHOP.store.sweep(100)).reopened()).isPositive();
            assertThat(await(SHOP.store.claim(sneaky))).isInstanceOf(Claim.Won.class);
            assertThat(release(sneaky)).isEqualTo(Written.RECORDED);
        });
    }

    @Test
    void beginningAnewInATransactionRemovesOldEvents() throws SQLException {
        ClaimRequest before = won(WhenAbandoned.RERUN);
        release(before);
        SHOP.leased(key).run(lease -> "leased");
        assertThat(events(before)).isEqualTo(2);
        SHOP.database.letTimePass(Shop.RETENTION);

        assertExecuted(SHOP.orderAndCommit(key), 1);

        assertThat(events(before)).isZero();
        assertThat(generation(before)).isEqualTo(2);
    }

    @Test
    void takeOverInATransactionKeepsEvents() throws SQLException {
        ClaimRequest before = won(WhenAbandoned.RERUN);
        release(before);
        assertExecuted(SHOP.orderAndCommit(key), 2);

        assertThat(events(before)).isOne();
    }

    @Test
    void aLeasedCallWaitsForAFinishedTransactionAndReplaysIt() throws Exception {
        try (Connection connection = SHOP.transaction()) {
            SHOP.order(connection, key);
            CompletableFuture<Outcome<String>> leased = SHOP.leased(key)
                    .runAsync(lease -> CompletableFuture.completedFuture("ran twice"))
                    .toCompletableFuture();
            assertThat(leased).isNotDone();
            connection.commit();

            assertThat(leased.get(60, TimeUnit.SECONDS)).isInstanceOf(Outcome.Replayed.class);
        }
    }

    @Test
    void whatIsInDoubtStaysInDoubt() throws SQLException {
        ClaimRequest owner = won(WhenAbandoned.PARK);
        SHOP.database.letTimePass(Shop.LEASE);

        assertThat(SHOP.orderAndCommit(key)).isInstanceOf(Outcome.InDoubt.class);
        assertThat(claimAgain(owner)).isInstanceOf(Claim.InDoubt.class);
        assertThat(SHOP.orderAndCommit(key)).isInstanceOf(Outcome.InDoubt.class);
        assertThat(SHOP.orders(key)).isZero();
    }

    @Test
    void afterItsWindowTheSameKeyRunsOnceMoreInATransaction() throws SQLException {
        Policy repeatable = Policy.defaults().retention(Shop.RETENTION).window(Duration.ofSeconds(10));
        try (Hapax hapax = Hapax.on(SHOP.store)
                        .withoutSweeper()
                        .scope("orders", repeatable)
                        .build();
                Connection connection = SHOP.transaction()) {
            Call<String> call = hapax.transactional(SHOP.store.enlist(connection))
                    .scope("orders")
                    .key(key)
                    .returning(String.class);
            assertExecuted(call.run(Shop.placing(connection, key)), 1);
            connection.commit();
            assertThat(call.run(Shop.placing(connection, key))).isInstanceOf(Outcome.Replayed.class);
            connection.commit();
            SHOP.database.letTimePass(Duration.ofSeconds(10));

            assertExecuted(call.run(Shop.placing(connection, key)), 1);
            connection.commit();
            assertThat(SHOP.orders(key)).isEqualTo(2);
        }
    }

    /** The caller was told that the operation has failed for good: nobody may be told anything else from now on. */
    @Test
    void anAbandonedOperationThatWasReportedAsFailedCannotBeCompletedByItsOldOwner() throws SQLException {
        ClaimRequest owner = won(WhenAbandoned.FAIL);
        SHOP.database.letTimePass(Shop.LEASE);
        assertThat(failureCode(SHOP.orderAndCommit(key))).isEqualTo(Result.ABANDONED);

        assertThat(finish(owner)).isEqualTo(Written.CLAIM_LOST);
        assertThat(claimAgain(owner))
                .isInstanceOfSatisfying(
                        Claim.Replay.class,
                        replay -> assertThat(replay.result()).isEqualTo(Result.abandoned()));
    }

    @Test
    void anOperationReportedAsExhaustedDoesNotTimeOutWithAnotherResult() throws SQLException {
        ClaimTerms once = new ClaimTerms(Shop.LEASE, Shop.RETENTION, WhenAbandoned.RERUN, 1);
        ClaimRequest owner = ClaimRequest.of(Shop.operation(key), Fingerprint.NONE, "lease", once);
        await(SHOP.store.claim(owner));
        SHOP.database.execute(
                "UPDATE hapax_operation SET attempt = 10, state = 0 WHERE id = '%s'".formatted(owner.id()));
        int told = failureCode(SHOP.orderAndCommit(key));

        SHOP.database.letTimePass(Shop.LEASE);
        await(SHOP.store.sweep(100));

        assertThat(failureCode(SHOP.orderAndCommit(key))).isEqualTo(told);
    }

    /** With savepoints around every statement, the driver keeps a transaction usable that PostgreSQL had aborted. */
    @Test
    void aRecordThatCannotBeWrittenUndoesTheEffectEvenIfTheCallerCommits() throws SQLException {
        try (Connection connection = TestDatabase.unpooled(SHOP.database.jdbcUrl() + "&autosave=always")
                .getConnection()) {
            connection.setAutoCommit(false);
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            Shop.execute(connection, "SELECT count(*) FROM orders");
            SHOP.orderAndCommit(key);

            assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> SHOP.order(connection, key));
            connection.commit();
        }

        assertThat(SHOP.orders(key)).isOne();
    }

    private interface Step {
        void run() throws SQLException;
    }

    /** Orders while something happens outside of the transaction, and commits whatever is left of it. */
    private void assertClaimLostWhen(Step meanwhile) throws SQLException {
        try (Connection connection = SHOP.transaction()) {
            Shop.place(connection, "before " + key);
            assertThatExceptionOfType(ClaimLostException.class)
                    .isThrownBy(() -> SHOP.within(connection, key).run(lease -> {
                        Shop.place(connection, key);
                        meanwhile.run();
                        return "ordered";
                    }));
            connection.commit();
        }
        assertThat(SHOP.orders(key)).isZero();
        assertThat(SHOP.orders("before " + key)).isOne();
        assertThat(SHOP.records(key)).isOne();
    }

    private static long events(ClaimRequest owner) {
        return SHOP.database.queryLong("SELECT count(*) FROM hapax_event WHERE id = '%s'".formatted(owner.id()));
    }

    private static long generation(ClaimRequest owner) {
        return SHOP.database.queryLong("SELECT generation FROM hapax_operation WHERE id = '%s'".formatted(owner.id()));
    }

    private static void assertExecuted(Outcome<String> outcome, int attempt) {
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.Executed.class, it -> assertThat(it.attempt()).isEqualTo(attempt));
    }

    private static int failureCode(Outcome<String> outcome) {
        return ((Outcome.Replayed<String>) outcome)
                .ending()
                .failure()
                .orElseThrow()
                .code();
    }

    private ClaimRequest request(WhenAbandoned whenAbandoned) {
        ClaimTerms terms = new ClaimTerms(Shop.LEASE, Shop.RETENTION, whenAbandoned, 3);
        return ClaimRequest.of(Shop.operation(key), Fingerprint.NONE, "lease", terms);
    }

    private ClaimRequest won(WhenAbandoned whenAbandoned) {
        ClaimRequest request = request(whenAbandoned);
        assertThat(await(SHOP.store.claim(request))).isEqualTo(new Claim.Won(1));
        return request;
    }

    private Claim claimAgain(ClaimRequest owner) {
        return await(SHOP.store.claim(request(owner.terms().whenAbandoned())));
    }

    private static Written finish(ClaimRequest owner) {
        return await(SHOP.store.finish(new Finish(owner.id(), owner.token(), RESULT, Shop.RETENTION)));
    }

    private static Written release(ClaimRequest owner) {
        return await(SHOP.store.release(new Release(
                owner.id(), owner.token(), Release.Kind.TRY_AGAIN, Duration.ofHours(1), "for the transaction")));
    }

    private static <T> T await(CompletionStage<T> stage) {
        return stage.toCompletableFuture().join();
    }
}
