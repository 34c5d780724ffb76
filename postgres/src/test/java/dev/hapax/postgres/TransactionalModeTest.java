package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.hapax.Hapax;
import dev.hapax.Outcome;
import dev.hapax.TerminalFailure;
import dev.hapax.store.StoreException;
import dev.hapax.store.StoreUnavailableException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TransactionalModeTest {
    private static final Shop SHOP = new Shop(4);

    private final String key = UUID.randomUUID().toString();

    @AfterAll
    static void close() {
        SHOP.close();
    }

    @Test
    void theEffectAndItsRecordCommitTogether() throws SQLException {
        try (Connection connection = SHOP.transaction()) {
            assertExecuted(SHOP.order(connection, key), 1);
            assertThat(SHOP.orders(key) + SHOP.records(key)).isZero();
            connection.commit();
        }

        assertThat(SHOP.orders(key)).isOne();
        assertThat(SHOP.records(key)).isOne();
    }

    @Test
    void aRollbackLeavesNeitherAndTheNextCallRuns() throws SQLException {
        try (Connection connection = SHOP.transaction()) {
            SHOP.order(connection, key);
            connection.rollback();
        }
        assertThat(SHOP.orders(key) + SHOP.records(key)).isZero();

        assertExecuted(SHOP.orderAndCommit(key), 1);
        assertThat(SHOP.orders(key)).isOne();
    }

    @Test
    void aRetryAfterTheCommitReplays() throws SQLException {
        SHOP.orderAndCommit(key);

        assertReplayed(SHOP.orderAndCommit(key));
        assertReplayed(SHOP.orderAndCommit(key));
        assertThat(SHOP.orders(key)).isOne();
    }

    @Test
    void aRetryWithinTheSameTransactionReplays() throws SQLException {
        try (Connection connection = SHOP.transaction()) {
            SHOP.order(connection, key);
            assertReplayed(SHOP.order(connection, key));
            connection.commit();
        }
        assertThat(SHOP.orders(key)).isOne();
    }

    @Test
    void aDuplicateIsInProgressWhileTheFirstIsInItsHandler() throws SQLException {
        try (Connection first = SHOP.transaction();
                Connection second = SHOP.transaction()) {
            SHOP.within(first, key).run(lease -> {
                assertThat(SHOP.order(second, key)).isInstanceOf(Outcome.InProgress.class);
                return "done";
            });
            second.commit();
            first.commit();
        }
        assertThat(SHOP.orders(key)).isZero();
    }

    @Test
    void aDuplicateIsInProgressWhileTheFirstHasNotCommitted() throws SQLException {
        try (Connection first = SHOP.transaction();
                Connection second = SHOP.transaction()) {
            SHOP.order(first, key);

            assertThat(SHOP.order(second, key)).isInstanceOf(Outcome.InProgress.class);
            second.commit();
            first.commit();
            assertReplayed(SHOP.order(second, key));
        }
        assertThat(SHOP.orders(key)).isOne();
    }

    /** Every claim keeps its lock until the transaction ends, also one that was answered by the stored result. */
    @Test
    void repeatIsReplayedWhileAnotherRepeatIsOpen() throws SQLException {
        SHOP.orderAndCommit(key);
        try (Connection first = SHOP.transaction();
                Connection second = SHOP.transaction()) {
            assertReplayed(SHOP.order(first, key));

            assertReplayed(SHOP.order(second, key));
            assertThat(SHOP.within(second, key)
                            .fingerprint("another".getBytes(StandardCharsets.UTF_8))
                            .run(Shop.placing(second, key)))
                    .isInstanceOf(Outcome.Mismatched.class);
            second.commit();
            first.commit();
        }
        assertThat(SHOP.orders(key)).isOne();
    }

    /** The expired result does not answer, and the one that is about to replace it is not committed yet. */
    @Test
    void expiredRecordIsInProgressWhileItBeginsAnew() throws SQLException {
        SHOP.orderAndCommit(key);
        SHOP.database.letTimePass(Shop.RETENTION);
        try (Connection first = SHOP.transaction();
                Connection second = SHOP.transaction()) {
            assertExecuted(SHOP.order(first, key), 1);

            assertThat(SHOP.order(second, key)).isInstanceOf(Outcome.InProgress.class);
            second.commit();
            first.commit();
            assertReplayed(SHOP.order(second, key));
        }
        assertThat(SHOP.orders(key)).isEqualTo(2);
    }

    @Test
    void anotherRequestWithTheSameKeyIsMismatched() throws SQLException {
        SHOP.orderAndCommit(key);
        try (Connection connection = SHOP.transaction()) {
            Outcome<String> outcome = SHOP.within(connection, key)
                    .fingerprint("another".getBytes(StandardCharsets.UTF_8))
                    .run(Shop.placing(connection, key));

            assertThat(outcome).isInstanceOf(Outcome.Mismatched.class);
            connection.commit();
        }
        assertThat(SHOP.orders(key)).isOne();
    }

    @Test
    void aRejectionUndoesTheEffectAndIsReplayed() throws SQLException {
        try (Connection connection = SHOP.transaction()) {
            Shop.place(connection, "before " + key);
            Outcome<String> outcome = SHOP.within(connection, key).run(lease -> {
                Shop.place(connection, key);
                throw new TerminalFailure(402, "declined");
            });
            assertThat(outcome)
                    .isInstanceOfSatisfying(
                            Outcome.Executed.class,
                            it -> assertThat(it.recorded()).isTrue());
            connection.commit();
        }

        assertThat(SHOP.orders(key)).isZero();
        assertThat(SHOP.orders("before " + key)).isOne();
        assertThat(((Outcome.Replayed<String>) SHOP.orderAndCommit(key))
                        .ending()
                        .failure())
                .hasValueSatisfying(failure -> assertThat(failure.code()).isEqualTo(402));
        assertThat(SHOP.orders(key)).isZero();
    }

    @Test
    void aRejectionIsStoredEvenIfAStatementOfTheHandlerHadFailed() throws SQLException {
        try (Connection connection = SHOP.transaction()) {
            SHOP.within(connection, key).run(lease -> {
                try {
                    Shop.execute(connection, "SELECT 1 / 0");
                } catch (SQLException e) {
                    throw new TerminalFailure(422, "cannot be divided", e);
                }
                return "divided";
            });
            connection.commit();
        }

        assertThat(SHOP.orderAndCommit(key)).isInstanceOf(Outcome.Replayed.class);
    }

    @Test
    void aRetryableExceptionIsUndoneEvenIfTheCallerCommits() throws SQLException {
        try (Connection connection = SHOP.transaction()) {
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> SHOP.within(connection, key).<Exception>run(lease -> {
                        Shop.place(connection, key);
                        throw new IOException("try again");
                    }))
                    .satisfies(e -> assertThat(e.getSuppressed()).isEmpty());
            connection.commit();
        }
        assertThat(SHOP.orders(key) + SHOP.records(key)).isZero();

        assertExecuted(SHOP.orderAndCommit(key), 1);
    }

    @Test
    void aFailureCanBeTriedAgainWithinTheSameTransaction() throws SQLException {
        try (Connection connection = SHOP.transaction()) {
            assertThatExceptionOfType(SQLException.class)
                    .isThrownBy(() -> SHOP.within(connection, key).run(lease -> {
                        Shop.place(connection, key);
                        Shop.execute(connection, "SELECT 1 / 0");
                        return "divided";
                    }));
            assertExecuted(SHOP.order(connection, key), 1);
            connection.commit();
        }
        assertThat(SHOP.orders(key)).isOne();
    }

    @Test
    void severalOperationsShareATransaction() throws SQLException {
        try (Connection connection = SHOP.transaction()) {
            Hapax.Transactional transaction = SHOP.hapax.transactional(SHOP.store.enlist(connection));
            for (int i = 0; i < 3; i++) {
                transaction.scope("orders").key(key + i).returning(String.class).run(Shop.placing(connection, key + i));
            }
            connection.commit();
        }

        for (int i = 0; i < 3; i++) {
            assertReplayed(SHOP.orderAndCommit(key + i), key + i);
            assertThat(SHOP.orders(key + i)).isOne();
        }
    }

    @Test
    void anOperationWithinAnOperationOfTheSameTransactionIsRecordedToo() throws SQLException {
        try (Connection connection = SHOP.transaction()) {
            Hapax.Transactional transaction = SHOP.hapax.transactional(SHOP.store.enlist(connection));
            Outcome<String> outer = transaction
                    .scope("orders")
                    .key(key)
                    .returning(String.class)
                    .run(lease -> {
                        Shop.place(connection, key);
                        transaction
                                .scope("orders")
                                .key(key + "i")
                                .returning(String.class)
                                .run(Shop.placing(connection, key + "i"));
                        return "ordered " + key;
                    });
            assertExecuted(outer, 1);
            connection.commit();
        }

        assertReplayed(SHOP.orderAndCommit(key));
        assertReplayed(SHOP.orderAndCommit(key + "i"), key + "i");
    }

    @Test
    void aFailureAfterAnInnerOperationUndoesAllOfTheOuterOne() throws SQLException {
        try (Connection connection = SHOP.transaction()) {
            Hapax.Transactional transaction = SHOP.hapax.transactional(SHOP.store.enlist(connection));
            assertThatIllegalStateException()
                    .isThrownBy(() -> transaction.scope("orders").key(key).<Exception>run(lease -> {
                        Shop.place(connection, key);
                        transaction
                                .scope("orders")
                                .key(key + "i")
                                .returning(String.class)
                                .run(Shop.placing(connection, key + "i"));
                        throw new IllegalStateException("try again");
                    }));
            connection.commit();
        }

        assertThat(SHOP.orders(key)).isZero();
        assertThat(SHOP.orders(key + "i")).isEqualTo(SHOP.records(key + "i"));
    }

    @Test
    void aFailureUndoesAllOfAnOperationAlthoughTheOneWithinItWasEnlistedByItself() throws SQLException {
        try (Connection connection = SHOP.transaction()) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> SHOP.within(connection, key).<Exception>run(lease -> {
                        Shop.place(connection, key);
                        SHOP.order(connection, key + "i");
                        SHOP.order(connection, key + "ii");
                        throw new IllegalStateException("try again");
                    }));
            assertExecuted(SHOP.order(connection, key + "after"), 1);
            connection.commit();
        }

        assertThat(SHOP.orders(key) + SHOP.orders(key + "i") + SHOP.orders(key + "ii"))
                .isZero();
        assertThat(SHOP.records(key) + SHOP.records(key + "i") + SHOP.records(key + "ii"))
                .isZero();
        assertThat(SHOP.orders(key + "after")).isOne();
    }

    @Test
    void anExpiredRecordBeginsAnew() throws SQLException {
        SHOP.orderAndCommit(key);
        SHOP.database.letTimePass(Shop.RETENTION);
        try (Connection connection = SHOP.transaction()) {
            Outcome<String> outcome = SHOP.within(connection, key)
                    .fingerprint("another".getBytes(StandardCharsets.UTF_8))
                    .run(Shop.placing(connection, key));
            assertExecuted(outcome, 1);
            connection.commit();
        }

        assertThat(SHOP.orders(key)).isEqualTo(2);
        assertThat(SHOP.orderAndCommit(key)).isInstanceOf(Outcome.Mismatched.class);
    }

    @Test
    void aConnectionInAutoCommitModeIsRefused() throws SQLException {
        try (Connection connection = SHOP.pool.getConnection()) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> SHOP.store.enlist(connection))
                    .withMessageContaining("setAutoCommit(false)");
        }
    }

    @Test
    void aTransactionCannotBeRunAsynchronously() throws SQLException {
        try (Connection connection = SHOP.transaction()) {
            assertThatIllegalStateException()
                    .isThrownBy(() ->
                            SHOP.within(connection, key).runAsync(lease -> CompletableFuture.completedFuture("done")))
                    .withMessageContaining("use run");
        }
    }

    @Test
    void aPoolOfOneIsEnough() throws SQLException {
        try (Shop small = new Shop(1)) {
            assertExecuted(small.orderAndCommit(key), 1);
            assertReplayed(small.orderAndCommit(key));
            try (Connection connection = small.transaction()) {
                small.order(connection, key + "2");
                connection.rollback();
                assertExecuted(small.order(connection, key + "2"), 1);
                connection.commit();
            }
            assertThat(small.orders(key) + small.orders(key + "2")).isEqualTo(2);
        }
    }

    @Test
    void aLeasedCallThatCannotHaveASecondConnectionFailsInsteadOfHanging() throws SQLException {
        try (Shop small = new Shop(1)) {
            small.pool.setConnectionTimeout(250);
            try (Connection connection = small.transaction()) {
                assertThatExceptionOfType(StoreUnavailableException.class)
                        .isThrownBy(() -> small.within(connection, key)
                                .run(lease -> small.leased(key + "2")
                                        .run(Shop.placing(connection, key))
                                        .toString()));
                connection.commit();
            }
            assertThat(small.orders(key) + small.records(key)).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"on", "off"})
    void theSettingsOfTheTransactionAreAsBefore(String seqscan) throws SQLException {
        try (Connection first = SHOP.transaction();
                Connection second = SHOP.transaction()) {
            Shop.execute(first, "SET LOCAL enable_seqscan = " + seqscan);
            Shop.execute(second, "SET LOCAL enable_seqscan = " + seqscan);
            Map<String, String> before = settings(first);
            SHOP.within(first, key).run(lease -> {
                assertThat(settings(first)).isEqualTo(before);
                return "done";
            });
            assertThat(settings(first)).isEqualTo(before);

            assertThat(SHOP.order(second, key)).isInstanceOf(Outcome.InProgress.class);
            assertThat(settings(second)).isEqualTo(before);

            first.commit();
            second.commit();
            Shop.execute(second, "SET LOCAL enable_seqscan = " + seqscan);
            assertReplayedAs(SHOP.order(second, key), "done");
            assertThat(settings(second)).isEqualTo(before);
        }
    }

    @Test
    void nothingIsLeftInTheSessionAfterTheCommit() throws SQLException {
        try (Connection connection = SHOP.transaction()) {
            Map<String, String> before = SessionState.of(connection);
            SHOP.order(connection, key);
            connection.commit();

            assertThat(SessionState.of(connection)).isEqualTo(before);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE})
    void strictIsolationLevelsRunAndReplay(int isolation) throws SQLException {
        try (Connection connection = SHOP.transaction(isolation)) {
            assertExecuted(SHOP.order(connection, key), 1);
            connection.commit();
            assertReplayed(SHOP.order(connection, key));
            connection.commit();
        }
        assertThat(SHOP.orders(key)).isOne();
    }

    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE})
    void aSnapshotFromBeforeTheFirstCommitIsARetryableException(int isolation) throws SQLException {
        try (Connection second = SHOP.transaction(isolation)) {
            Shop.execute(second, "SELECT count(*) FROM orders");
            SHOP.orderAndCommit(key);

            assertThatExceptionOfType(StoreUnavailableException.class)
                    .isThrownBy(() -> SHOP.order(second, key))
                    .matches(StoreException::retryable);
            commitQuietly(second);

            assertThat(SHOP.orders(key)).isOne();
            assertReplayed(SHOP.order(second, key));
            second.commit();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE})
    void aSnapshotFromBeforeSomebodyBeganAnExpiredOneAnewIsARetryableException(int isolation) throws SQLException {
        SHOP.orderAndCommit(key);
        SHOP.database.letTimePass(Shop.RETENTION);
        try (Connection second = SHOP.transaction(isolation)) {
            Shop.execute(second, "SELECT count(*) FROM orders");
            SHOP.orderAndCommit(key);

            assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> SHOP.order(second, key));
            commitQuietly(second);
        }
        assertThat(SHOP.orders(key)).isEqualTo(2);
    }

    private void assertReplayed(Outcome<String> outcome) {
        assertReplayed(outcome, key);
    }

    private static void assertReplayed(Outcome<String> outcome, String key) {
        assertReplayedAs(outcome, "ordered " + key);
    }

    private static void assertReplayedAs(Outcome<String> outcome, String value) {
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.Replayed.class, it -> assertThat(it.value()).isEqualTo(value));
    }

    private static void assertExecuted(Outcome<String> outcome, int attempt) {
        assertThat(outcome).isInstanceOfSatisfying(Outcome.Executed.class, it -> {
            assertThat(it.attempt()).isEqualTo(attempt);
            assertThat(it.recorded()).isTrue();
        });
    }

    /** The lock on the operation is the one thing that lasts until the end of the transaction. */
    private static Map<String, String> settings(Connection connection) throws SQLException {
        Map<String, String> settings = SessionState.of(connection);
        settings.remove("advisory locks");
        return settings;
    }

    /** A caller that does not know better commits; the driver may refuse. */
    private static void commitQuietly(Connection connection) throws SQLException {
        try {
            connection.commit();
        } catch (SQLException rolledBackInstead) {
            connection.rollback();
        }
    }
}
