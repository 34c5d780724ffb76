package dev.hapax.bench;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.AsyncHandler;
import dev.hapax.Handler;
import dev.hapax.Hapax;
import dev.hapax.Outcome;
import dev.hapax.Policy;
import dev.hapax.Scope;
import dev.hapax.WhenInFlight;
import dev.hapax.bench.peers.Payload;
import dev.hapax.cache.NearCache;
import dev.hapax.postgres.PostgresStore;
import dev.hapax.postgres.PostgresTransactions;
import dev.hapax.store.Store;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletionStage;

/** Hapax as its users have it: the public API and the default settings over a pool. */
final class Operations implements FreshOperations {
    static final String SCOPE = "bench";

    private static final String WAITING = "waiting";
    private static final byte[] REQUEST = Payload.bytes(300);
    private static final byte[] RESPONSE = Payload.bytes(300);
    private static final String ORDER = "INSERT INTO bench_order (buyer, amount) VALUES (?, ?)";

    private final HikariDataSource pool;
    private final PostgresStore store;
    private final Hapax hapax;
    private final PostgresTransactions transactions;

    private Operations(HikariDataSource pool, PostgresStore store, Store fronted, Policy policy) {
        this.pool = pool;
        this.store = store;
        this.transactions = PostgresTransactions.over(pool);
        this.hapax = Hapax.on(fronted)
                .scope(SCOPE, policy)
                .scope(WAITING, policy.whenInFlight(WhenInFlight.waitAtMost(Duration.ofSeconds(30))))
                .withoutFronts()
                .withoutSweeper()
                .build();
    }

    /** The store alone: every operation is asked of it. */
    static Operations on(Lab lab, int poolSize, String schema) throws SQLException {
        return on(lab, poolSize, schema, Policy.payment());
    }

    static Operations on(Lab lab, int poolSize, String schema, Policy policy) throws SQLException {
        HikariDataSource pool = lab.pool(poolSize, schema);
        PostgresStore store = PostgresStore.over(pool);
        return new Operations(pool, store, store, policy);
    }

    /** With the near cache in front. */
    static Operations cached(Lab lab, int poolSize) throws SQLException {
        HikariDataSource pool = lab.pool(poolSize, Lab.WARM);
        PostgresStore store = PostgresStore.over(pool);
        return new Operations(pool, store, NearCache.over(store), Policy.payment());
    }

    PostgresStore store() {
        return store;
    }

    /** What both sides run: next to nothing, so that the layer itself is measured. */
    static byte[] handle() {
        return RESPONSE;
    }

    @Override
    public void fresh() {
        fresh(lease -> handle());
    }

    <X extends Exception> void fresh(Handler<byte[], X> handler) throws X {
        run(hapax.scope(SCOPE), UUID.randomUUID().toString(), handler, Outcome.Executed.class);
    }

    CompletionStage<?> freshAsync(AsyncHandler<byte[]> handler) {
        return hapax.scope(SCOPE)
                .key(UUID.randomUUID().toString())
                .fingerprint(REQUEST)
                .returning(byte[].class)
                .runAsync(handler, Runnable::run)
                .thenAccept(outcome -> require(outcome, Outcome.Executed.class));
    }

    void replay(String key) {
        run(hapax.scope(SCOPE), key, lease -> handle(), Outcome.Replayed.class);
    }

    /** A run that may be the first of its key or not. */
    void either(String key) {
        run(hapax.scope(SCOPE), key, lease -> handle(), Outcome.class);
    }

    /** The same, for callers that wait for one that runs. */
    void waiting(String key) {
        run(hapax.scope(WAITING), key, lease -> handle(), Outcome.class);
    }

    /** One business row and its record in one transaction, which Hapax commits. */
    void transactional() throws Exception {
        boolean unused = transactions.call((connection, transaction) -> {
            Scope scope = hapax.transactional(transaction).scope(SCOPE);
            run(scope, UUID.randomUUID().toString(), lease -> order(connection), Outcome.Executed.class);
            return true;
        });
    }

    /** One business row and its record in a transaction that the caller commits. */
    void enlisted() throws SQLException {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            Scope scope = hapax.transactional(store.enlist(connection)).scope(SCOPE);
            run(scope, UUID.randomUUID().toString(), lease -> order(connection), Outcome.Executed.class);
            connection.commit();
            connection.setAutoCommit(true);
        }
    }

    /** The bare business transaction. */
    static void business(Connection connection) throws SQLException {
        order(connection);
        connection.commit();
    }

    static byte[] order(Connection connection) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement(ORDER)) {
            insert.setString(1, "buyer"); // buyer
            insert.setLong(2, 4_200); // amount
            insert.executeUpdate();
        }
        return handle();
    }

    private static <X extends Exception> void run(
            Scope scope, String key, Handler<byte[], X> handler, Class<?> expected) throws X {
        require(scope.key(key).fingerprint(REQUEST).returning(byte[].class).run(handler), expected);
    }

    private static void require(Outcome<byte[]> outcome, Class<?> expected) {
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
