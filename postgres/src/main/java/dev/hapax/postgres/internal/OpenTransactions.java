package dev.hapax.postgres.internal;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Function;

/** Recognizes connections in the middle of a transaction that Hapax did not begin. */
public final class OpenTransactions {
    private static final String ACTIVE_SQL_TRANSACTION = "25001";

    private OpenTransactions() {}

    /**
     * Throws if the connection is in the middle of a transaction; changes nothing. JDBC forbids to set the read-only
     * mode in the middle of a transaction, and the driver knows whether it is in one without asking the server. To set
     * the mode that is set already changes nothing.
     */
    public static <E extends RuntimeException> void requireNone(
            Connection connection, Function<SQLException, E> refusal) throws SQLException {
        try {
            connection.setReadOnly(connection.isReadOnly());
        } catch (SQLException e) {
            if (ACTIVE_SQL_TRANSACTION.equals(e.getSQLState())) {
                throw refusal.apply(e);
            }
            throw e;
        }
    }
}
