package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.store.StoreException;
import dev.hapax.store.StoreUnavailableException;
import dev.hapax.testkit.AtOnce;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class InsertOnceTest {
    private static final TestDatabase DATABASE = TestDatabase.empty();
    private static final HikariDataSource POOL = DATABASE.pool(20);

    private record Order(long id, String customer, int number, int amount) {
        static Order read(ResultSet row) throws SQLException {
            return new Order(
                    row.getLong("id"), row.getString("customer"), row.getInt("order_no"), row.getInt("amount"));
        }
    }

    @BeforeEach
    void emptyTable() {
        DATABASE.execute("""
                DROP TABLE IF EXISTS orders CASCADE;
                CREATE TABLE orders (
                    id       bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                    customer text    NOT NULL,
                    order_no integer NOT NULL,
                    amount   integer NOT NULL DEFAULT 7,
                    note     text,
                    UNIQUE (customer, order_no)
                )""");
    }

    @AfterAll
    static void close() {
        POOL.close();
    }

    @Test
    void theFirstCallInserts() throws SQLException {
        InsertOnce.Row<Order> row = insertAlone(order("ann", 1).set("amount", 4200));

        assertThat(row.inserted()).isTrue();
        assertThat(row.value().amount()).isEqualTo(4200);
        assertThat(orders()).isOne();
    }

    @Test
    void theSecondCallGetsTheRowOfTheFirst() throws SQLException {
        Order first = insertAlone(order("ann", 1).set("amount", 4200)).value();

        InsertOnce.Row<Order> second = insertAlone(order("ann", 1).set("amount", 9));

        assertThat(second).isEqualTo(new InsertOnce.Row<>(false, first));
        assertThat(orders()).isOne();
    }

    @Test
    void everyColumnOfTheKeyCounts() throws SQLException {
        insertAlone(order("ann", 1));

        assertThat(insertAlone(order("ann", 2)).inserted()).isTrue();
        assertThat(insertAlone(order("bob", 1)).inserted()).isTrue();
    }

    @Test
    void theKeyMayBeGivenInAnyOrder() throws SQLException {
        Order first = insertAlone(order("ann", 1)).value();

        InsertOnce.Row<Order> second =
                insertAlone(InsertOnce.into("orders").unique("order_no", 1).unique("customer", "ann"));

        assertThat(second).isEqualTo(new InsertOnce.Row<>(false, first));
    }

    @Test
    void aColumnLeftOutGetsItsDefaultAndANullStaysNull() throws SQLException {
        assertThat(insertAlone(order("ann", 1).set("note", null)).value().amount())
                .isEqualTo(7);
        assertThat(DATABASE.query("SELECT note FROM orders")).isNull();
    }

    @Test
    void ofManyAtOnceExactlyOneInsertsAndAllGetTheSameRow() throws Exception {
        for (int number = 0; number < 50; number++) {
            InsertOnce insert = order("ann", number);

            List<InsertOnce.Row<Order>> rows = AtOnce.call(16, () -> insertAlone(insert));

            assertThat(rows).filteredOn(InsertOnce.Row::inserted).hasSize(1);
            assertThat(rows)
                    .extracting(InsertOnce.Row::value)
                    .containsOnly(rows.get(0).value());
        }
        assertThat(orders()).isEqualTo(50);
    }

    @Test
    void ofManyTransactionsAtOnceExactlyOneInserts() throws Exception {
        for (int number = 0; number < 20; number++) {
            InsertOnce insert = order("ann", number);

            List<InsertOnce.Row<Order>> rows = AtOnce.call(16, () -> {
                try (Connection connection = transaction()) {
                    InsertOnce.Row<Order> row = insert.on(connection, Order::read);
                    connection.commit();
                    return row;
                }
            });

            assertThat(rows).filteredOn(InsertOnce.Row::inserted).hasSize(1);
        }
        assertThat(orders()).isEqualTo(20);
    }

    @Test
    void aConflictLeavesTheTransactionUsable() throws SQLException {
        insertAlone(order("ann", 1));
        try (Connection connection = transaction()) {
            assertThat(order("bob", 1).on(connection, Order::read).inserted()).isTrue();
            assertThat(order("ann", 1).on(connection, Order::read).inserted()).isFalse();
            assertThat(order("bob", 2).on(connection, Order::read).inserted()).isTrue();
            connection.commit();
        }
        assertThat(orders()).isEqualTo(3);
    }

    @Test
    void theRowGoesWithTheTransaction() throws SQLException {
        try (Connection connection = transaction()) {
            order("ann", 1).on(connection, Order::read);
            assertThat(order("ann", 1).on(connection, Order::read).inserted()).isFalse();
            connection.rollback();
        }

        assertThat(orders()).isZero();
        assertThat(insertAlone(order("ann", 1)).inserted()).isTrue();
    }

    @Test
    void whoMeetsAnOpenTransactionWaitsAndInsertsWhenItRollsBack() throws Exception {
        try (Connection first = transaction()) {
            order("ann", 1).on(first, Order::read);
            CompletableFuture<InsertOnce.Row<Order>> second = insertElsewhere(order("ann", 1));
            awaitBlockedBackend();
            first.rollback();

            assertThat(second.get(60, TimeUnit.SECONDS).inserted()).isTrue();
        }
    }

    @Test
    void whoMeetsAnOpenTransactionWaitsAndGetsItsRowWhenItCommits() throws Exception {
        try (Connection first = transaction()) {
            Order order = order("ann", 1).on(first, Order::read).value();
            CompletableFuture<InsertOnce.Row<Order>> second = insertElsewhere(order("ann", 1));
            awaitBlockedBackend();
            first.commit();

            assertThat(second.get(60, TimeUnit.SECONDS)).isEqualTo(new InsertOnce.Row<>(false, order));
        }
    }

    /** A statement's trigger fires although the statement inserted nothing: just between the conflict and the look. */
    @Test
    void aRowDeletedBetweenConflictAndLookIsInsertedAnew() throws SQLException {
        Order doomed = insertAlone(order("ann", 1).set("note", "doomed")).value();
        DATABASE.execute(AFTER_EVERY_INSERT.formatted("DELETE FROM orders WHERE note = 'doomed'"));

        InsertOnce.Row<Order> row = insertAlone(order("ann", 1));

        assertThat(row.inserted()).isTrue();
        assertThat(row.value().id()).isNotEqualTo(doomed.id());
        assertThat(orders()).isOne();
    }

    @Test
    void whoKeepsLosingTheInsertAndFindingNoRowIsNotToldThatItInserted() {
        DATABASE.execute(BEFORE_EVERY_INSERT.formatted(
                "INSERT INTO orders (customer, order_no, note) VALUES ('ann', 1, 'doomed')"));
        DATABASE.execute(AFTER_EVERY_INSERT.formatted("DELETE FROM orders WHERE note = 'doomed'"));

        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(() -> insertAlone(order("ann", 1)))
                .withMessageContaining("orders");
        assertThat(orders()).isZero();
    }

    @Test
    void aKeyThatTheColumnRoundsIsNeverTakenForInserted() throws SQLException {
        DATABASE.execute("CREATE TABLE prices (price numeric(10, 2) UNIQUE)");
        InsertOnce insert = InsertOnce.into("prices").unique("price", new BigDecimal("1.005"));
        try (Connection connection = POOL.getConnection()) {
            assertThat(insert.on(connection, row -> row.getString(1)).inserted())
                    .isTrue();

            assertThatExceptionOfType(StoreUnavailableException.class)
                    .isThrownBy(() -> insert.on(connection, row -> row.getString(1)))
                    .withMessageContaining("exactly what the columns store");
        }
    }

    @Test
    void underRepeatableReadAVisibleRowIsGiven() throws SQLException {
        Order first = insertAlone(order("ann", 1)).value();
        try (Connection connection = transaction(Connection.TRANSACTION_REPEATABLE_READ)) {
            assertThat(order("ann", 1).on(connection, Order::read)).isEqualTo(new InsertOnce.Row<>(false, first));
            connection.commit();
        }
    }

    @Test
    void aRowTheSnapshotCannotSeeIsARetryableException() throws SQLException {
        for (int isolation : List.of(Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE)) {
            try (Connection connection = transaction(isolation)) {
                takeSnapshot(connection);
                insertAlone(order("ann", isolation));

                assertThatExceptionOfType(StoreUnavailableException.class)
                        .isThrownBy(() -> order("ann", isolation).on(connection, Order::read))
                        .withMessageContaining("40001")
                        .matches(StoreException::retryable);

                connection.rollback();
                assertThat(order("ann", isolation).on(connection, Order::read).inserted())
                        .isFalse();
                connection.rollback();
            }
        }
    }

    @Test
    void withoutAMatchingConstraintTheErrorSaysWhatToCreate() {
        assertThatExceptionOfType(StoreException.class)
                .isThrownBy(() -> insertAlone(InsertOnce.into("orders").unique("customer", "ann")))
                .withMessageContaining("CREATE UNIQUE INDEX ON \"orders\" (\"customer\")")
                .matches(e -> !e.retryable());
    }

    @Test
    void anotherConstraintIsAnErrorAndNotAnExistingRow() {
        DATABASE.execute("ALTER TABLE orders ADD UNIQUE (note)");
        DATABASE.execute("INSERT INTO orders (customer, order_no, note) VALUES ('bob', 1, 'taken')");

        assertThatExceptionOfType(StoreException.class)
                .isThrownBy(() -> insertAlone(order("ann", 1).set("note", "taken")))
                .withMessageContaining("23505");
    }

    @Test
    void aMissingTableOrColumnIsNotBlamedOnHapaxsSchema() {
        assertThatExceptionOfType(StoreException.class)
                .isThrownBy(() -> insertAlone(InsertOnce.into("no_such_table").unique("id", 1)))
                .withMessageContaining("42P01")
                .withMessageNotContaining("migrate");
        assertThatExceptionOfType(StoreException.class)
                .isThrownBy(() -> insertAlone(order("ann", 1).set("no_such_column", 1)))
                .withMessageContaining("42703")
                .withMessageNotContaining("migrate");
    }

    @Test
    void aNullInTheKeyIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> InsertOnce.into("orders").unique("customer", null))
                .withMessageContaining("\"customer\" is null");
    }

    @Test
    void aRowWithoutAKeyIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> insertAlone(InsertOnce.into("orders").set("amount", 1)))
                .withMessageContaining("unique(");
    }

    @Test
    void aColumnGivenTwiceIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> order("ann", 1).set("customer", "bob"))
                .withMessageContaining("twice");
        assertThatIllegalArgumentException().isThrownBy(() -> order("ann", 1).unique("customer", "bob"));
    }

    @Test
    void namesThatCannotBeNamesAreRefused() {
        for (String name : List.of("", "\0", "or\0ders", ".orders", "app.", "a.b.c")) {
            assertThatIllegalArgumentException().isThrownBy(() -> InsertOnce.into(name));
        }
        for (String name : List.of("", "cust\0omer")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> InsertOnce.into("orders").unique(name, 1));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> order("ann", 1).set(name, 1));
        }
    }

    @Test
    void namesAreNeverReadAsSql() throws SQLException {
        DATABASE.execute("CREATE SCHEMA IF NOT EXISTS \"Odd \"\"Schema\"");
        DATABASE.execute("CREATE TABLE \"Odd \"\"Schema\".\"Select; --\" "
                + "(\"it's \"\"quoted\"\"\" text UNIQUE, \"drop table orders\" int)");
        InsertOnce insert = InsertOnce.into("Odd \"Schema.Select; --")
                .unique("it's \"quoted\"", "'; DROP TABLE orders; --")
                .set("drop table orders", 5);
        try (Connection connection = POOL.getConnection()) {
            assertThat(insert.on(connection, row -> row.getInt(2))).isEqualTo(new InsertOnce.Row<>(true, 5));
            assertThat(insert.on(connection, row -> row.getInt(2))).isEqualTo(new InsertOnce.Row<>(false, 5));
        }
        assertThat(orders()).isZero();
    }

    private static final String AFTER_EVERY_INSERT = """
            CREATE OR REPLACE FUNCTION after_insert() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN %s; RETURN NULL; END $$;
            CREATE TRIGGER after_insert AFTER INSERT ON orders FOR EACH STATEMENT
                WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION after_insert()""";

    private static final String BEFORE_EVERY_INSERT = """
            CREATE OR REPLACE FUNCTION before_insert() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN %s; RETURN NULL; END $$;
            CREATE TRIGGER before_insert BEFORE INSERT ON orders FOR EACH STATEMENT
                WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION before_insert()""";

    private static InsertOnce order(String customer, int number) {
        return InsertOnce.into("orders").unique("customer", customer).unique("order_no", number);
    }

    private static InsertOnce.Row<Order> insertAlone(InsertOnce insert) throws SQLException {
        try (Connection connection = POOL.getConnection()) {
            return insert.on(connection, Order::read);
        }
    }

    private static CompletableFuture<InsertOnce.Row<Order>> insertElsewhere(InsertOnce insert) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return insertAlone(insert);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private static void awaitBlockedBackend() {
        Awaitility.await().until(() -> DATABASE.queryLong("""
                SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock'""") == 1);
    }

    private static Connection transaction() throws SQLException {
        return transaction(Connection.TRANSACTION_READ_COMMITTED);
    }

    private static Connection transaction(int isolation) throws SQLException {
        Connection connection = POOL.getConnection();
        connection.setAutoCommit(false);
        connection.setTransactionIsolation(isolation);
        return connection;
    }

    private static void takeSnapshot(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT count(*) FROM orders");
        }
    }

    private static long orders() {
        return DATABASE.queryLong("SELECT count(*) FROM orders");
    }
}
