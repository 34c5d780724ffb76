package dev.hapax.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Executor;
import javax.sql.DataSource;

/**
 * A pooled connection for the length of one round, given back as it was.
 *
 * <p>Whatever the pool's defaults are, our transactions are READ COMMITTED: under a stricter level a claim that meets
 * another one would be a serialization failure instead of an answer. And whatever the statistics say, our statements
 * use the index: a table that was analysed while it was empty makes the planner keep a sequential scan for {@code WHERE
 * id = ?}. Both are said anew for every transaction, by the {@link Guard}, and end with it: nothing stays behind in the
 * session.
 */
final class Session implements AutoCloseable {
    private static final Executor SAME_THREAD = Runnable::run;
    private static final String BEGIN = "BEGIN READ WRITE; ";

    private final Connection connection;
    private final boolean autoCommit;
    private final int networkTimeout;
    private boolean inTransaction;

    private Session(Connection connection, boolean autoCommit, int networkTimeout) {
        this.connection = connection;
        this.autoCommit = autoCommit;
        this.networkTimeout = networkTimeout;
    }

    static Session open(DataSource dataSource, Duration ioTimeout) throws SQLException {
        Connection connection = dataSource.getConnection();
        try {
            Session session = new Session(connection, connection.getAutoCommit(), connection.getNetworkTimeout());
            if (!session.autoCommit) {
                connection.setAutoCommit(true);
            }
            connection.setNetworkTimeout(SAME_THREAD, Math.toIntExact(ioTimeout.toMillis()));
            return session;
        } catch (SQLException | RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    /**
     * The settings of one transaction.
     *
     * @param sql statements that set them until the transaction ends
     */
    record Guard(String sql) {
        private static final String ISOLATION = "SET transaction_isolation = 'read committed'; ";

        /** How many statements it is. */
        static final int RESULTS = 2;

        static Guard lockTimeout(Duration lockTimeout) {
            String settings =
                    "SELECT set_config('enable_seqscan', 'off', true), set_config('lock_timeout', '%dms', true); ";
            return new Guard(ISOLATION + settings.formatted(lockTimeout.toMillis()));
        }
    }

    /** A statement that is its own transaction, guard and all, in one round trip. */
    PreparedStatement prepareAlone(Guard guard, String sql) throws SQLException {
        return connection.prepareStatement(guard.sql() + sql);
    }

    PreparedStatement prepare(String sql) throws SQLException {
        return connection.prepareStatement(sql);
    }

    /** Runs a statement of {@link #prepareAlone} and stops at its own result, past the guard's. */
    static void executeAlone(PreparedStatement statement) throws SQLException {
        statement.execute();
        for (int i = 0; i < Guard.RESULTS; i++) {
            statement.getMoreResults();
        }
    }

    void begin(Guard guard) throws SQLException {
        inTransaction = true;
        execute(BEGIN + guard.sql());
    }

    void commit() throws SQLException {
        execute("COMMIT");
        inTransaction = false;
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @Override
    public void close() throws SQLException {
        try (connection) {
            if (connection.isClosed()) {
                return;
            }
            if (inTransaction) {
                rollback();
            }
            connection.setNetworkTimeout(SAME_THREAD, networkTimeout);
            if (!autoCommit) {
                connection.setAutoCommit(false);
            }
        }
    }

    /** A connection that cannot even roll back must not go back to the pool with a transaction open. */
    private void rollback() throws SQLException {
        try {
            execute("ROLLBACK");
        } catch (SQLException e) {
            connection.abort(SAME_THREAD);
        }
    }
}
