package dev.hapax.postgres;

import dev.hapax.store.StoreException;
import dev.hapax.store.StoreUnavailableException;
import java.sql.SQLException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import java.util.Set;
import java.util.concurrent.CompletionException;

/** Says what an {@link SQLException} means, by its SQLState alone. */
final class SqlErrors {
    private static final Set<String> CONTENTION = Set.of(
            "55P03", // lock_not_available: lock_timeout
            "40001", // serialization_failure
            "40P01"); // deadlock_detected
    private static final Set<String> UNAVAILABLE = Set.of(
            "25006", // read_only_sql_transaction: we were sent to a standby
            "25P03", // idle_in_transaction_session_timeout
            "25P04", // transaction_timeout
            "26000", // invalid_sql_statement_name: a pooler gave us another session
            "42P05", // duplicate_prepared_statement: the same
            "57014"); // query_canceled
    private static final Set<String> UNAVAILABLE_CLASSES = Set.of(
            "08", // connection_exception
            "53", // insufficient_resources
            "57", // operator_intervention: shutdown, crash, starting up
            "58"); // system_error
    private static final Set<String> NO_SCHEMA = Set.of(
            "42P01", // undefined_table
            "42703"); // undefined_column

    private static final String NOT_NULL_VIOLATION = "23502";
    private static final String UNIQUE_VIOLATION = "23505";

    private SqlErrors() {}

    /** A column that must have a value got none. */
    static boolean isNullRefused(SQLException e) {
        return NOT_NULL_VIOLATION.equals(e.getSQLState());
    }

    /** A row with the same unique key is there already. */
    static boolean isDuplicate(SQLException e) {
        return UNIQUE_VIOLATION.equals(e.getSQLState());
    }

    /** Somebody else holds the row; the others of the batch are not to blame. */
    static boolean isContention(SQLException e) {
        return e.getSQLState() != null && CONTENTION.contains(e.getSQLState());
    }

    /** The database could not be reached or is not up to it now; what was sent may or may not have happened. */
    static boolean isUnavailable(SQLException e) {
        String state = e.getSQLState();
        return e instanceof SQLTransientConnectionException
                || e instanceof SQLRecoverableException
                || state == null
                || UNAVAILABLE.contains(state)
                || (state.length() >= 2 && UNAVAILABLE_CLASSES.contains(state.substring(0, 2)));
    }

    /** Whether a store's failure is that of a row which somebody else holds. */
    static boolean isFromContention(Throwable error) {
        Throwable cause = error instanceof CompletionException ? error.getCause() : error;
        return cause instanceof StoreException && cause.getCause() instanceof SQLException e && isContention(e);
    }

    static StoreException translate(SQLException e) {
        String said = "%s (SQLState %s)".formatted(e.getMessage(), e.getSQLState());
        if (isUnavailable(e) || isContention(e)) {
            return new StoreUnavailableException("PostgreSQL cannot be reached or is too busy: " + said, e);
        }
        if (NO_SCHEMA.contains(String.valueOf(e.getSQLState()))) {
            return new StoreException(
                    "Hapax's tables are missing or of another version: call PostgresSchema.migrate(dataSource), or run "
                            + "its .sql files with your own migrations. " + said,
                    e);
        }
        return new StoreException("PostgreSQL refused: " + said, e);
    }
}
