package dev.hapax.postgres;

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
     * <p>The record of the last operation is sent together with the COMMIT. All operations of the work are to use the
     * given transaction; one that enlists the connection itself would not see that record. The work must not commit or
     * roll back, nor roll back to a savepoint from before the end of its last operation.
     *
     * <p>An {@link SQLException} of the work that says that the database went away comes out as
     * {@link StoreUnavailableException}: the work is not to blame. So does an operation that was claimed outside of
     * this transaction meanwhile: nothing was committed, and running it again gives the other one's result.
     */
    @Override
    public <T> T call(Work<Connection, T> work) throws Exception {
        try (Connection connection = connect()) {
            boolean autoCommit = begin(connection);
            try {
                PostgresTransaction transaction = PostgresTransaction.begunOn(connection);
                T result = work.run(connection, transaction);
                transaction.commit();
                connection.setAutoCommit(autoCommit);
                return result;
            } catch (Throwable thrown) {
                rollBack(connection, autoCommit, thrown);
                if (thrown instanceof SQLException e && SqlErrors.isUnavailable(e)) {
                    throw SqlErrors.translate(e);
                }
                throw thrown;
            }
        }
    }

    private Connection connect() {
        try {
            return dataSource.getConnection();
        } catch (SQLException e) {
            throw SqlErrors.translate(e);
        }
    }

    /**
     * @return whether the connection came in auto-commit mode, and is to go back so
     * @throws OpenTransactionException when there is a transaction that is not ours to end
     */
    private static boolean begin(Connection connection) {
        try {
            boolean autoCommit = connection.getAutoCommit();
            if (autoCommit) {
                connection.setAutoCommit(false);
            } else {
                Session.requireNoTransaction(connection);
            }
            return autoCommit;
        } catch (SQLException e) {
            throw SqlErrors.translate(e);
        }
    }

    private static void rollBack(Connection connection, boolean autoCommit, Throwable thrown) {
        try {
            connection.rollback();
            connection.setAutoCommit(autoCommit);
        } catch (SQLException | RuntimeException broken) {
            thrown.addSuppressed(broken);
        }
    }
}
