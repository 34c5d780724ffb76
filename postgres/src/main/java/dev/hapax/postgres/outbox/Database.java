package dev.hapax.postgres.outbox;

import dev.hapax.postgres.OpenTransactionException;
import dev.hapax.postgres.internal.OpenTransactions;
import dev.hapax.store.StoreException;
import dev.hapax.store.StoreUnavailableException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.IntFunction;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Runs our own statements on the user's data source, each a transaction of its own in one round trip.
 *
 * <p>PostgreSQL takes what arrives up to one {@code Sync} as one implicit transaction, so the {@link #GUARD} travels
 * with the statement and its settings end with it. It leaves the planner only index scans, in the index's order:
 * statistics taken while the outbox was empty, as it mostly is, would cause sequential scans when it is full.
 */
final class Database {
    private static final Executor SAME_THREAD = Runnable::run;
    private static final int GUARD_RESULTS = 2;

    private static final String GUARD = """
            SET transaction_isolation = 'read committed';
            SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
                set_config('enable_sort', 'off', true), set_config('lock_timeout', '200ms', true)%s;
            """;

    /** An SQL expression: whether the guard applies to the statement that contains it. */
    static final String IS_GUARDED = "current_setting('lock_timeout') = '200ms'";

    private static final String WITHOUT_SYNC = ", set_config('synchronous_commit', 'off', true)";

    private static final String OPEN_TRANSACTION =
            "The data source returned a connection with an open transaction that Hapax did not begin, so the outbox did "
                    + "not use it. End the transaction first, or give the outbox's inspector and relay a data source "
                    + "that is not bound to the calling thread.";

    private static final Set<String> UNAVAILABLE = Set.of(
            "25006", // read_only_sql_transaction
            "26000", // invalid_sql_statement_name: a pooler gave us another session
            "42P05", // duplicate_prepared_statement: the same
            "55P03"); // lock_not_available
    private static final Set<String> UNAVAILABLE_CLASSES = Set.of(
            "08", // connection_exception
            "25", // invalid_transaction_state: ended by a timeout of the server
            "40", // transaction_rollback
            "53", // insufficient_resources
            "57", // operator_intervention
            "58"); // system_error
    private static final Set<String> NO_SCHEMA = Set.of(
            "42P01", // undefined_table
            "42703"); // undefined_column

    private final DataSource dataSource;
    private final Duration ioTimeout;

    interface Work<T> {
        T run(PreparedStatement statement) throws SQLException;
    }

    /** Binds one value of each row, as an array for {@code unnest}. */
    static <Q, V> void bind(
            PreparedStatement statement,
            int index,
            String type,
            IntFunction<@Nullable V[]> array,
            List<Q> rows,
            Function<Q, @Nullable V> value)
            throws SQLException {
        Connection connection = statement.getConnection();
        statement.setArray(
                index, connection.createArrayOf(type, rows.stream().map(value).toArray(array)));
    }

    static <Q> void bindLongs(PreparedStatement statement, int index, List<Q> rows, Function<Q, Long> value)
            throws SQLException {
        bind(statement, index, "int8", Long[]::new, rows, value);
    }

    Database(DataSource dataSource, Duration ioTimeout) {
        this.dataSource = dataSource;
        this.ioTimeout = ioTimeout;
    }

    static String guarded(String sql) {
        return GUARD.formatted("") + sql;
    }

    static String guardedWithoutSync(String sql) {
        return GUARD.formatted(WITHOUT_SYNC) + sql;
    }

    /** Of a row with the column {@code is_guarded}: see {@link #IS_GUARDED}. */
    static void requireGuarded(ResultSet row) throws SQLException {
        if (!row.getBoolean("is_guarded")) {
            throw new StoreException(
                    "The statements of the outbox must reach PostgreSQL as one transaction, which they do not with "
                            + "preferQueryMode=simple: leave it out of the JDBC URL",
                    null);
        }
    }

    /** Runs what was prepared and stops at the first result past those of the guard. */
    static void execute(PreparedStatement statement) throws SQLException {
        statement.execute();
        for (int i = 0; i < GUARD_RESULTS; i++) {
            statement.getMoreResults();
        }
    }

    /**
     * @throws StoreException if the database cannot be reached or refuses
     * @throws OpenTransactionException if the data source is bound to a transaction of the caller; it is left as it is
     */
    <T> T call(String sql, Work<T> work) {
        try (Connection connection = dataSource.getConnection()) {
            boolean autoCommit = connection.getAutoCommit();
            if (!autoCommit) {
                OpenTransactions.requireNone(connection, e -> new OpenTransactionException(OPEN_TRANSACTION, e));
            }
            int networkTimeout = connection.getNetworkTimeout();
            try {
                connection.setAutoCommit(true);
                connection.setNetworkTimeout(SAME_THREAD, Math.toIntExact(ioTimeout.toMillis()));
                try (PreparedStatement statement = connection.prepareStatement(sql)) {
                    return work.run(statement);
                }
            } finally {
                if (!connection.isClosed()) {
                    connection.setNetworkTimeout(SAME_THREAD, networkTimeout);
                    connection.setAutoCommit(autoCommit);
                }
            }
        } catch (SQLException e) {
            throw translate(e);
        }
    }

    static StoreException translate(SQLException e) {
        String state = String.valueOf(e.getSQLState());
        String said = "%s (SQLState %s)".formatted(e.getMessage(), state);
        if (e.getSQLState() == null
                || UNAVAILABLE.contains(state)
                || UNAVAILABLE_CLASSES.contains(state.substring(0, Math.min(2, state.length())))) {
            return new StoreUnavailableException("PostgreSQL cannot be reached or is too busy: " + said, e);
        }
        if (NO_SCHEMA.contains(state)) {
            return new StoreException(
                    "The outbox's table is missing or of another version: call PostgresSchema.migrate(dataSource), or "
                            + "run its .sql files with your own migrations. " + said,
                    e);
        }
        return new StoreException("PostgreSQL refused: " + said, e);
    }
}
