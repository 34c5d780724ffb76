package dev.hapax.postgres;

import dev.hapax.store.StoreTransaction;
import dev.hapax.store.StoreUnavailableException;
import dev.hapax.store.Transactions;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import javax.sql.DataSource;

/**
 * Transactions on the application's own {@link DataSource}, in the database that holds Hapax's tables: for handlers of
 * messages, whose writes then commit together with the record that the message was handled. Safe for use by many
 * threads; each transaction takes one connection.
 */
public final class PostgresTransactions implements Transactions<Connection> {
    private final DataSource dataSource;

    private PostgresTransactions(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    public static PostgresTransactions over(DataSource dataSource) {
        return new PostgresTransactions(Objects.requireNonNull(dataSource, "dataSource"));
    }

    /**
     * {@inheritDoc}
     *
     * <p>An {@link SQLException} of the work that says that the database went away comes out as
     * {@link StoreUnavailableException}: the work is not to blame.
     */
    @Override
    public <T> T call(Work<Connection, T> work) throws Exception {
        try (Connection connection = open()) {
            T result = run(connection, work);
            commit(connection);
            connection.setAutoCommit(true);
            return result;
        }
    }

    private Connection open() {
        try {
            Connection connection = dataSource.getConnection();
            try {
                connection.setAutoCommit(false);
                return connection;
            } catch (SQLException | RuntimeException e) {
                connection.close();
                throw e;
            }
        } catch (SQLException e) {
            throw SqlErrors.translate(e);
        }
    }

    private static <T> T run(Connection connection, Work<Connection, T> work) throws Exception {
        StoreTransaction transaction = PostgresTransaction.on(connection);
        try {
            return work.run(connection, transaction);
        } catch (Throwable thrown) {
            rollBack(connection, thrown);
            if (thrown instanceof SQLException e && SqlErrors.isUnavailable(e)) {
                throw SqlErrors.translate(e);
            }
            throw thrown;
        }
    }

    private static void rollBack(Connection connection, Throwable thrown) {
        try {
            connection.rollback();
            connection.setAutoCommit(true);
        } catch (SQLException | RuntimeException broken) {
            thrown.addSuppressed(broken);
        }
    }

    private static void commit(Connection connection) {
        try {
            connection.commit();
        } catch (SQLException e) {
            throw SqlErrors.translate(e);
        }
    }
}
