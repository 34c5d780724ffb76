package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Handler;
import dev.hapax.Outcome;
import dev.hapax.TerminalFailure;
import dev.hapax.store.StoreException;
import dev.hapax.store.StoreTransaction;
import dev.hapax.store.StoreUnavailableException;
import dev.hapax.store.Transactions;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;

/** Transactions that Hapax begins and commits, with the record sent together with the COMMIT. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PostgresTransactionsTest {
    private static final Shop SHOP = new Shop(4);

    private final String key = UUID.randomUUID().toString();
    private final Transactions<Connection> transactions = PostgresTransactions.over(SHOP.pool);

    @AfterAll
    static void close() {
        SHOP.close();
    }

    @Test
    void effectAndRecordAreCommittedTogether() throws Exception {
        Outcome<String> outcome = transactions.call((connection, transaction) -> {
            Outcome<String> executed = order(connection, transaction, key);
            assertThat(SHOP.orders(key) + SHOP.records(key)).isZero();
            return executed;
        });

        assertThat(outcome).isInstanceOf(Outcome.Executed.class);
        assertThat(SHOP.orders(key)).isOne();
        assertThat(SHOP.records(key)).isOne();
        assertThat(order(transactions, key)).isInstanceOf(Outcome.Replayed.class);
        assertThat(SHOP.orders(key)).isOne();
    }

    @Test
    void failingWorkCommitsNeitherEffectNorRecord() throws Exception {
        assertThatIllegalStateException()
                .isThrownBy(() -> transactions.call((connection, transaction) -> {
                    order(connection, transaction, key);
                    throw new IllegalStateException("after the operation");
                }));

        assertThat(SHOP.orders(key) + SHOP.records(key)).isZero();
    }

    @Test
    void rejectionKeepsWhatTheWorkDidBefore() throws Exception {
        transactions.call((connection, transaction) -> {
            Shop.place(connection, "before " + key);
            return run(transaction, key, lease -> {
                Shop.place(connection, key);
                throw new TerminalFailure(402, "declined");
            });
        });

        assertThat(SHOP.orders("before " + key)).isOne();
        assertThat(SHOP.orders(key)).isZero();
        assertThat(SHOP.orderAndCommit(key)).isInstanceOf(Outcome.Replayed.class);
    }

    @Test
    void repeatWithinTheSameWorkReplays() throws Exception {
        transactions.call((connection, transaction) -> {
            order(connection, transaction, key);
            assertThat(order(connection, transaction, key)).isInstanceOf(Outcome.Replayed.class);
            return order(connection, transaction, key + "2");
        });

        assertThat(SHOP.orders(key)).isOne();
        assertThat(SHOP.records(key)).isOne();
        assertThat(SHOP.records(key + "2")).isOne();
    }

    @Test
    void nestedOperationsAreRecordedBoth() throws Exception {
        transactions.call((connection, transaction) -> run(transaction, key, lease -> {
            order(connection, transaction, key + "inner");
            Shop.place(connection, key);
            return "ordered both";
        }));

        assertThat(SHOP.records(key) + SHOP.records(key + "inner")).isEqualTo(2);
        assertThat(SHOP.orders(key) + SHOP.orders(key + "inner")).isEqualTo(2);
    }

    @Test
    void rejectionOfAnOperationUndoesThoseWithinIt() throws Exception {
        transactions.call((connection, transaction) -> run(transaction, key, lease -> {
            order(connection, transaction, key + "inner");
            throw new TerminalFailure(402, "declined");
        }));

        assertThat(SHOP.records(key)).isOne();
        assertThat(SHOP.records(key + "inner") + SHOP.orders(key + "inner")).isZero();
    }

    @Test
    void rejectionAfterSeveralOperationsWithinItIsRecorded() throws Exception {
        transactions.call((connection, transaction) -> run(transaction, key, lease -> {
            order(connection, transaction, key + "first");
            order(connection, transaction, key + "second");
            throw new TerminalFailure(402, "declined");
        }));

        assertThat(SHOP.records(key)).isOne();
        assertThat(SHOP.records(key + "first") + SHOP.orders(key + "first")).isZero();
    }

    /** As a data source does that is bound to the caller's transaction. */
    @Test
    void openTransactionOfTheCallerIsRefusedAndLeftAlone() throws Exception {
        try (Connection callers = SHOP.database.unpooled().getConnection()) {
            callers.setAutoCommit(false);
            Shop.place(callers, "callers " + key);

            assertThatExceptionOfType(StoreException.class)
                    .isThrownBy(() -> order(PostgresTransactions.over(new OneConnection(callers)), key))
                    .withMessageContaining("enlist");
            assertThat(callers.getAutoCommit()).isFalse();
            assertThat(SHOP.orders("callers " + key)).isZero();
            callers.commit();
        }
        assertThat(SHOP.orders("callers " + key)).isOne();
        assertThat(SHOP.orders(key)).isZero();
    }

    @Test
    void openTransactionThatHasOnlyReadIsLeftAlone() throws Exception {
        try (Connection callers = SHOP.database.unpooled().getConnection()) {
            callers.setAutoCommit(false);
            Shop.execute(callers, "SELECT set_config('shop.tenant', 'ann', true)");

            assertThatExceptionOfType(StoreException.class)
                    .isThrownBy(() -> order(PostgresTransactions.over(new OneConnection(callers)), key))
                    .withMessageContaining("enlist");
            assertThat(callers.unwrap(BaseConnection.class).getTransactionState())
                    .isEqualTo(TransactionState.OPEN);
        }
        assertThat(SHOP.orders(key)).isZero();
    }

    @Test
    void connectionsWithoutAutoCommitGoBackAsTheyCame() throws Exception {
        try (Connection connection = SHOP.database.unpooled().getConnection()) {
            connection.setAutoCommit(false);

            assertThat(order(PostgresTransactions.over(new OneConnection(connection)), key))
                    .isInstanceOf(Outcome.Executed.class);
            assertThat(connection.getAutoCommit()).isFalse();
            assertThat(SHOP.orders(key)).isOne();
        }
    }

    /** The record must not outlive the effect. */
    @Test
    void rollbackWithinTheWorkLeavesNoRecord() {
        assertThatExceptionOfType(StoreException.class)
                .isThrownBy(() -> transactions.call((connection, transaction) -> {
                    order(connection, transaction, key);
                    connection.rollback();
                    return "rolled back";
                }))
                .withMessageContaining("leave commit and rollback")
                .matches(e -> !e.retryable());

        assertThat(SHOP.orders(key) + SHOP.records(key)).isZero();
    }

    @Test
    void rollbackToASavepointOfTheWorkLeavesNoRecord() {
        assertThatExceptionOfType(StoreException.class)
                .isThrownBy(() -> transactions.call((connection, transaction) -> {
                    order(connection, transaction, key + "before");
                    var savepoint = connection.setSavepoint();
                    order(connection, transaction, key);
                    connection.rollback(savepoint);
                    return "rolled back";
                }));

        assertThat(SHOP.orders(key) + SHOP.records(key)).isZero();
        assertThat(SHOP.orders(key + "before")).isEqualTo(SHOP.records(key + "before"));
    }

    /** The second claim wrote the record of the first one, after the savepoint. */
    @Test
    void rollbackPastALaterClaimCommitsNothing() {
        assertThatExceptionOfType(StoreException.class)
                .isThrownBy(() -> transactions.call((connection, transaction) -> {
                    order(connection, transaction, key);
                    var savepoint = connection.setSavepoint();
                    assertThat(order(connection, transaction, key)).isInstanceOf(Outcome.Replayed.class);
                    connection.rollback(savepoint);
                    return "rolled back";
                }))
                .withMessageContaining("leave commit and rollback");

        assertThat(SHOP.orders(key) + SHOP.records(key)).isZero();
    }

    /** The later claim must neither write the record of the undone operation nor hide that it was undone. */
    @Test
    void laterOperationDoesNotRecordAnUndoneOne() {
        assertThatExceptionOfType(StoreException.class)
                .isThrownBy(() -> transactions.call((connection, transaction) -> {
                    var savepoint = connection.setSavepoint();
                    order(connection, transaction, key);
                    connection.rollback(savepoint);
                    return order(connection, transaction, key + "2");
                }))
                .withMessageContaining("leave commit and rollback");

        assertThat(SHOP.orders(key) + SHOP.records(key)).isZero();
        assertThat(SHOP.orders(key + "2") + SHOP.records(key + "2")).isZero();
    }

    /** The second operation wrote the record of the first one after the savepoint; the third one must not hide that. */
    @Test
    void laterOperationDoesNotHideALostRecord() {
        assertThatExceptionOfType(StoreException.class)
                .isThrownBy(() -> transactions.call((connection, transaction) -> {
                    order(connection, transaction, key);
                    var savepoint = connection.setSavepoint();
                    order(connection, transaction, key + "2");
                    order(connection, transaction, key + "2");
                    connection.rollback(savepoint);
                    return order(connection, transaction, key + "3");
                }))
                .withMessageContaining("leave commit and rollback");

        assertThat(SHOP.orders(key) + SHOP.records(key)).isZero();
    }

    /** With autosave, a failed statement does not fail its transaction. */
    @Test
    void failedLateRecordIsNotCommittedThoughTheWorkGoesOn() {
        try (HikariDataSource pool = TestDatabase.pool(SHOP.database.jdbcUrl() + "&autosave=always", 1)) {
            assertThatExceptionOfType(StoreException.class)
                    .isThrownBy(() -> PostgresTransactions.over(pool).call((connection, transaction) -> {
                        order(connection, transaction, key);
                        Shop.execute(connection, "SET LOCAL transaction_read_only = on");
                        assertThatExceptionOfType(StoreException.class)
                                .isThrownBy(() -> order(connection, transaction, key + "2"));
                        return "went on";
                    }));
        }
        assertThat(SHOP.orders(key) + SHOP.records(key)).isZero();
    }

    /** PostgreSQL answers the COMMIT of a failed transaction with a rollback. */
    @Test
    void failureThatTheWorkSwallowsIsReported() {
        assertThatExceptionOfType(StoreException.class)
                .isThrownBy(() -> transactions.call((connection, transaction) -> {
                    Shop.place(connection, key);
                    assertThatExceptionOfType(SQLException.class)
                            .isThrownBy(() -> Shop.execute(connection, "SELECT 1 / 0"));
                    return "went on";
                }))
                .withMessageContaining("25P02");

        assertThat(SHOP.orders(key)).isZero();
    }

    @Test
    void commitWithinTheWorkIsReported() {
        assertThatExceptionOfType(StoreException.class)
                .isThrownBy(() -> transactions.call((connection, transaction) -> {
                    order(connection, transaction, key);
                    connection.commit();
                    return "committed";
                }))
                .withMessageContaining("leave commit and rollback");
    }

    @Test
    void lostClaimUndoesTheEffectAndIsRetryable() throws Exception {
        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(() -> transactions.call((connection, transaction) -> run(transaction, key, lease -> {
                    Shop.place(connection, key);
                    SHOP.leased(key).run(other -> "leased");
                    return "ordered";
                })))
                .withMessageContaining("run it again");

        assertThat(SHOP.orders(key)).isZero();
        assertThat(order(transactions, key))
                .isInstanceOfSatisfying(
                        Outcome.Replayed.class, it -> assertThat(it.value()).isEqualTo("leased"));
    }

    @Test
    void lostClaimIsNotCommittedThoughTheWorkGoesOn() {
        assertThatExceptionOfType(StoreException.class)
                .isThrownBy(() -> transactions.call((connection, transaction) -> {
                    run(transaction, key, lease -> {
                        Shop.place(connection, key);
                        SHOP.leased(key).run(other -> "leased");
                        return "ordered";
                    });
                    assertThatExceptionOfType(StoreUnavailableException.class)
                            .isThrownBy(() -> order(connection, transaction, key + "2"));
                    return "went on";
                }));

        assertThat(SHOP.orders(key) + SHOP.orders(key + "2")).isZero();
    }

    /** Only a row of Hapax's own says that somebody was faster. */
    @Test
    void violatedConstraintOfTheWorkIsNotALostClaim() {
        SHOP.database.execute("CREATE TABLE late (key text UNIQUE DEFERRABLE INITIALLY DEFERRED)");
        assertThatExceptionOfType(StoreException.class)
                .isThrownBy(() -> transactions.call((connection, transaction) -> run(transaction, key, lease -> {
                    Shop.execute(connection, "INSERT INTO late VALUES ('a'), ('a')");
                    return "inserted twice";
                })))
                .matches(e -> !e.retryable())
                .withMessageContaining("23505");

        assertThat(SHOP.records(key)).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "preferQueryMode=simple",
                "preferQueryMode=extendedForPrepared",
                "prepareThreshold=0",
                "prepareThreshold=1",
                "autosave=always",
                "options=-c%20default_transaction_isolation=serializable",
                "options=-c%20default_transaction_isolation=repeatable%5C%20read"
            })
    void everyConnectionSettingRunsRejectsAndReplays(String setting) throws Exception {
        try (HikariDataSource pool = TestDatabase.pool(SHOP.database.jdbcUrl() + "&" + setting, 1)) {
            Transactions<Connection> own = PostgresTransactions.over(pool);
            Map<String, String> before = session(pool);
            for (int i = 0; i < 8; i++) {
                String fresh = key + i;
                assertThat(order(own, fresh)).isInstanceOf(Outcome.Executed.class);
                assertThat(order(own, fresh)).isInstanceOf(Outcome.Replayed.class);
                own.call((connection, transaction) -> run(transaction, fresh + "rejected", lease -> {
                    Shop.place(connection, fresh + "rejected");
                    throw new TerminalFailure(402, "declined");
                }));
                assertThat(SHOP.orders(fresh)).isOne();
                assertThat(SHOP.orders(fresh + "rejected")).isZero();
                assertThat(SHOP.records(fresh + "rejected")).isOne();
            }
            assertThat(session(pool)).isEqualTo(before);
        }
    }

    private static Map<String, String> session(HikariDataSource pool) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            assertThat(connection.getAutoCommit()).isTrue();
            return SessionState.of(connection);
        }
    }

    private static Outcome<String> order(Transactions<Connection> transactions, String key) throws Exception {
        return transactions.call((connection, transaction) -> order(connection, transaction, key));
    }

    private static Outcome<String> order(Connection connection, StoreTransaction transaction, String key)
            throws SQLException {
        return run(transaction, key, Shop.placing(connection, key));
    }

    private static <X extends Exception> Outcome<String> run(
            StoreTransaction transaction, String key, Handler<String, X> handler) throws X {
        return SHOP.hapax
                .transactional(transaction)
                .scope("orders")
                .key(key)
                .returning(String.class)
                .run(handler);
    }
}
