package dev.hapax.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;

/**
 * A pooled connection for the length of one round, given back as it was.
 *
 * <p>Every statement of ours is a transaction of its own, in one round trip: it travels with its {@link Guard}, and
 * PostgreSQL takes what arrives up to one {@code Sync} as one implicit transaction. The guard's settings end with it,
 * so nothing stays behind in the session.
 */
final class Session implements AutoCloseable {
    private static final Executor SAME_THREAD = Runnable::run;

    /** A stricter level would make a claim that meets another one a serialization failure instead of an answer. */
    private static final String READ_COMMITTED = "SET transaction_isolation = 'read committed'; ";

    private static final String ACTIVE_SQL_TRANSACTION = "25001";

    private final Connection connection;
    private final boolean autoCommit;
    private final int networkTimeout;
    private boolean readCommitted;

    /** Whether a connection's transactions are read committed anyway. May ask the server. */
    interface Isolation {
        boolean isReadCommitted(Connection connection) throws SQLException;
    }

    /**
     * Changes nothing yet.
     *
     * @throws OpenTransactionException when the connection is in the middle of a transaction
     */
    Session(Connection connection) throws SQLException {
        this.connection = connection;
        autoCommit = connection.getAutoCommit();
        if (!autoCommit) {
            requireNoTransaction(connection);
        }
        networkTimeout = connection.getNetworkTimeout();
    }

    /**
     * JDBC forbids to set the read-only mode in the middle of a transaction, and the driver knows whether it is in one
     * without asking the server. To set the mode that is set already changes nothing.
     */
    private static void requireNoTransaction(Connection connection) throws SQLException {
        try {
            connection.setReadOnly(connection.isReadOnly());
        } catch (SQLException e) {
            if (ACTIVE_SQL_TRANSACTION.equals(e.getSQLState())) {
                throw new OpenTransactionException(e);
            }
            throw e;
        }
    }

    /** What it changes, {@link #close} puts back. */
    void begin(Duration ioTimeout, Isolation isolation) throws SQLException {
        connection.setNetworkTimeout(SAME_THREAD, Math.toIntExact(ioTimeout.toMillis()));
        if (autoCommit) {
            readCommitted = isolation.isReadCommitted(connection);
        } else {
            connection.setAutoCommit(true); // and its transactions may be anything: it may be bound to one to come
        }
    }

    /**
     * What holds for one transaction, whatever the server's settings and statistics are.
     *
     * <p>A table that was analysed while it was empty makes the planner prefer to read all of it, and keep that plan
     * when there are millions of rows. So the guard leaves it no way to read a table but by the key, or by the
     * deadline.
     */
    static final class Guard {
        static final Guard NONE = new Guard(List.of());

        private final String sql;

        /** Whole texts, so that the driver finds what it has prepared by one and the same string. */
        private final Map<String, String> guarded = new ConcurrentHashMap<>();

        private Guard(List<String> settings) {
            sql = settings.isEmpty() ? "" : "SELECT " + String.join(", ", settings) + "; ";
        }

        /** Only a bitmap scan is left, and that needs a condition on an index. */
        static Guard byOneKey(Duration lockTimeout) {
            return new Guard(
                    List.of(set("enable_seqscan", "off"), set("enable_indexscan", "off"), lockTimeout(lockTimeout)));
        }

        /** For statements that read no table. */
        static Guard lockTimeoutOnly(Duration lockTimeout) {
            return new Guard(List.of(lockTimeout(lockTimeout)));
        }

        /** The same for statements that take arrays, which PostgreSQL would plan anew each time. */
        static Guard byKey(Duration lockTimeout) {
            return new Guard(List.of(
                    set("enable_seqscan", "off"),
                    set("enable_indexscan", "off"),
                    set("plan_cache_mode", "force_generic_plan"),
                    lockTimeout(lockTimeout)));
        }

        static Guard byDeadline(Duration lockTimeout) {
            return new Guard(
                    List.of(set("enable_seqscan", "off"), set("enable_sort", "off"), lockTimeout(lockTimeout)));
        }

        /**
         * Set by a statement of its own, which comes first: a statement waits for a lock on the table before it
         * evaluates anything.
         */
        private static String lockTimeout(Duration lockTimeout) {
            return set("lock_timeout", lockTimeout.toMillis() + "ms");
        }

        private static String set(String name, String value) {
            return "set_config('%s', '%s', true)".formatted(name, value);
        }

        private String before(String statement) {
            return sql.isEmpty() ? statement : guarded.computeIfAbsent(statement, it -> sql + it);
        }

        private int results() {
            return sql.isEmpty() ? 0 : 1;
        }
    }

    PreparedStatement prepare(Guard guard, String sql) throws SQLException {
        String guarded = guard.before(sql);
        return connection.prepareStatement(readCommitted ? guarded : READ_COMMITTED + guarded);
    }

    /** Runs what was prepared and stops at the statement's own result, past those of what travelled with it. */
    void execute(Guard guard, PreparedStatement statement) throws SQLException {
        statement.execute();
        for (int i = guard.results() + (readCommitted ? 0 : 1); i > 0; i--) {
            statement.getMoreResults();
        }
    }

    @Override
    public void close() throws SQLException {
        try (connection) {
            if (!connection.isClosed()) {
                restore();
            }
        }
    }

    private void restore() throws SQLException {
        try {
            connection.setNetworkTimeout(SAME_THREAD, networkTimeout);
        } finally {
            if (!autoCommit) {
                connection.setAutoCommit(false);
            }
        }
    }
}
