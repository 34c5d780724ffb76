package dev.hapax.bench;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Handler;
import dev.hapax.Hapax;
import dev.hapax.Outcome;
import dev.hapax.Policy;
import dev.hapax.Scope;
import dev.hapax.postgres.PostgresStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/** Hapax as its users have it: the public API and the default settings over a pool. */
final class Operations implements AutoCloseable {
    static final String SCOPE = "bench";

    private static final byte[] REQUEST = new byte[300];
    private static final byte[] RESPONSE = new byte[300];
    private static final String ORDER = "INSERT INTO bench_order (buyer, amount) VALUES (?, ?)";

    private final HikariDataSource pool;
    private final PostgresStore store;
    private final Hapax hapax;

    Operations(Lab lab, int poolSize, String schema) throws SQLException {
        this.pool = lab.pool(poolSize, schema);
        this.store = PostgresStore.over(pool);
        this.hapax =
                Hapax.on(store).scope(SCOPE, Policy.payment()).withoutSweeper().build();
    }

    /** What both sides run: next to nothing, so that the layer itself is measured. */
    static byte[] handle() {
        return RESPONSE;
    }

    void fresh() {
        fresh(lease -> handle());
    }

    <X extends Exception> void fresh(Handler<byte[], X> handler) throws X {
        run(hapax.scope(SCOPE), UUID.randomUUID().toString(), handler, Outcome.Executed.class);
    }

    void replay(List<String> keys) {
        String key = keys.get(ThreadLocalRandom.current().nextInt(keys.size()));
        run(hapax.scope(SCOPE), key, lease -> handle(), Outcome.Replayed.class);
    }

    /** A run that may be the first of its key or not. */
    void prepare(String key) {
        run(hapax.scope(SCOPE), key, lease -> handle(), Outcome.class);
    }

    /** One business row and its record in one transaction. */
    void transactional(Connection connection) throws SQLException {
        Scope scope = hapax.transactional(store.enlist(connection)).scope(SCOPE);
        run(scope, UUID.randomUUID().toString(), lease -> order(connection), Outcome.Executed.class);
        connection.commit();
    }

    /** The bare business transaction. */
    static void business(Connection connection) throws SQLException {
        order(connection);
        connection.commit();
    }

    private static byte[] order(Connection connection) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement(ORDER)) {
            insert.setString(1, "buyer"); // buyer
            insert.setLong(2, 4_200); // amount
            insert.executeUpdate();
        }
        return handle();
    }

    Connection connection() throws SQLException {
        Connection connection = pool.getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

    private static <X extends Exception> void run(
            Scope scope, String key, Handler<byte[], X> handler, Class<?> expected) throws X {
        Outcome<byte[]> outcome =
                scope.key(key).fingerprint(REQUEST).returning(byte[].class).run(handler);
        boolean recorded = !(outcome instanceof Outcome.Executed<byte[]> executed) || executed.recorded();
        if (!expected.isInstance(outcome) || !recorded) {
            throw new IllegalStateException("expected " + expected.getSimpleName() + ", got " + outcome);
        }
    }

    @Override
    public void close() {
        hapax.close();
        store.close();
        pool.close();
    }
}
