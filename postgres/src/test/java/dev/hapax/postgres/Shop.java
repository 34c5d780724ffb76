package dev.hapax.postgres;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Call;
import dev.hapax.Handler;
import dev.hapax.Hapax;
import dev.hapax.Outcome;
import dev.hapax.Policy;
import dev.hapax.store.OperationKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/** A shop that takes orders in transactions of its own. Its table would keep a second order of the same key. */
final class Shop implements AutoCloseable {
    static final Duration LEASE = Duration.ofSeconds(30);
    static final Duration RETENTION = Duration.ofHours(1);

    final TestDatabase database = TestDatabase.migrated();
    final HikariDataSource pool;
    final PostgresStore store;
    final Hapax hapax;

    Shop(int poolSize) {
        database.execute("CREATE TABLE orders (key text NOT NULL)");
        pool = database.pool(poolSize);
        store = PostgresStore.over(pool);
        Policy policy = Policy.defaults().lease(LEASE).retention(RETENTION);
        hapax = Hapax.on(store)
                .withoutSweeper()
                .owner("shop")
                .scope("orders", policy)
                .build();
    }

    static OperationKey operation(String key) {
        return new OperationKey("", "orders", key);
    }

    Connection transaction() throws SQLException {
        return transaction(Connection.TRANSACTION_READ_COMMITTED);
    }

    Connection transaction(int isolation) throws SQLException {
        Connection connection = pool.getConnection();
        connection.setAutoCommit(false);
        connection.setTransactionIsolation(isolation);
        return connection;
    }

    Call<String> within(Connection connection, String key) {
        return hapax.transactional(store.enlist(connection))
                .scope("orders")
                .key(key)
                .returning(String.class);
    }

    Call<String> leased(String key) {
        return hapax.scope("orders").key(key).returning(String.class);
    }

    /** Places the order within the caller's transaction. */
    Outcome<String> order(Connection connection, String key) throws SQLException {
        return within(connection, key).run(placing(connection, key));
    }

    /** Places the order in a transaction of its own. */
    Outcome<String> orderAndCommit(String key) throws SQLException {
        try (Connection connection = transaction()) {
            Outcome<String> outcome = order(connection, key);
            connection.commit();
            return outcome;
        }
    }

    static Handler<String, SQLException> placing(Connection connection, String key) {
        return lease -> {
            place(connection, key);
            return "ordered " + key;
        };
    }

    static void place(Connection connection, String key) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO orders (key) VALUES (?)")) {
            insert.setString(1, key); // key
            insert.executeUpdate();
        }
    }

    static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    long orders(String key) {
        return database.queryLong("SELECT count(*) FROM orders WHERE key = '%s'".formatted(key));
    }

    long records(String key) {
        return database.queryLong("SELECT count(*) FROM hapax_operation WHERE key = '%s'".formatted(key));
    }

    @Override
    public void close() {
        hapax.close();
        store.close();
        pool.close();
    }
}
