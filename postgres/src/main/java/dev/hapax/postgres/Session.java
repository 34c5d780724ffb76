package dev.hapax.postgres;

import dev.hapax.postgres.internal.OpenTransactions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Executor;

/**
 * A pooled connection for the length of one batch, given back as it was.
 *
 * <p>Every statement of ours is a transaction of its own, in one round trip: it travels with its
 * {@link StatementSettings}, and PostgreSQL takes what arrives up to one {@code Sync} as one implicit transaction. They
 * end with it, so nothing stays behind in the session.
 */
final class Session implements AutoCloseable {
    private static final Executor SAME_THREAD = Runnable::run;

    /** A stricter level would make a claim that meets another one a serialization failure instead of an answer. */
    private static final String READ_COMMITTED = "SET transaction_isolation = 'read committed'; ";

    private static final String SET_AND_READ =
            "SELECT set_config('lock_timeout', '54321ms', true); SELECT current_setting('lock_timeout') = '54321ms'";

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

    /** @throws OpenTransactionException when the connection is in the middle of a transaction */
    static void requireNoTransaction(Connection connection) throws SQLException {
        OpenTransactions.requireNone(connection, OpenTransactionException::new);
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

    /** Whether statements that are sent together are one transaction: not with {@code preferQueryMode=simple}. */
    boolean sendsOneTransaction() throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(SET_AND_READ)) {
            statement.execute();
            statement.getMoreResults();
            try (ResultSet row = statement.getResultSet()) {
                row.next();
                return row.getBoolean(1);
            }
        }
    }

    PreparedStatement prepare(StatementSettings settings, String sql) throws SQLException {
        String withSettings = settings.before(sql);
        return connection.prepareStatement(readCommitted ? withSettings : READ_COMMITTED + withSettings);
    }

    /** Runs what was prepared and stops at the statement's own result, past those of what travelled with it. */
    void execute(StatementSettings settings, PreparedStatement statement) throws SQLException {
        statement.execute();
        for (int i = settings.results() + (readCommitted ? 0 : 1); i > 0; i--) {
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
