package dev.hapax.postgres;

import dev.hapax.store.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/** Opens sessions on the user's data source. Safe for use by many threads. */
final class Sessions {
    private final DataSource dataSource;
    private final Duration ioTimeout;
    private volatile Isolation isolation = Isolation.UNKNOWN;
    private volatile boolean sendsOneTransaction;

    /** What a pool's transactions are like; asked for once, since it costs a round trip. */
    private enum Isolation {
        UNKNOWN,
        READ_COMMITTED,
        STRICTER
    }

    interface Work<T> {
        T run(Session session) throws SQLException;
    }

    Sessions(DataSource dataSource, Duration ioTimeout) {
        this.dataSource = dataSource;
        this.ioTimeout = ioTimeout;
    }

    Session open() throws SQLException {
        return open(ioTimeout);
    }

    Session open(Duration timeout) throws SQLException {
        Session session = take(dataSource.getConnection());
        try {
            session.begin(timeout, this::isReadCommitted);
            requireOneTransaction(session);
            return session;
        } catch (SQLException | RuntimeException | Error e) {
            giveBack(session, e);
            throw e;
        }
    }

    private static Session take(Connection connection) throws SQLException {
        try {
            return new Session(connection);
        } catch (SQLException | RuntimeException | Error e) {
            giveBack(connection, e);
            throw e;
        }
    }

    private static void giveBack(AutoCloseable taken, Throwable why) {
        try {
            taken.close();
        } catch (Exception e) {
            why.addSuppressed(e);
        }
    }

    /** @throws StoreException that says what the database said */
    <T> T call(Duration timeout, Work<T> work) {
        try (Session session = open(timeout)) {
            return work.run(session);
        } catch (SQLException e) {
            throw SqlErrors.translate(e);
        }
    }

    <T> T call(Work<T> work) {
        return call(ioTimeout, work);
    }

    /** Asked for once, since it costs a round trip. */
    private void requireOneTransaction(Session session) throws SQLException {
        if (!sendsOneTransaction) {
            if (!session.sendsOneTransaction()) {
                throw new StoreException(
                        "Statements and their settings must reach PostgreSQL as one transaction, which they do not with "
                                + "preferQueryMode=simple: leave it out of the JDBC URL.",
                        null);
            }
            sendsOneTransaction = true;
        }
    }

    private boolean isReadCommitted(Connection connection) throws SQLException {
        if (isolation == Isolation.UNKNOWN) {
            isolation = connection.getTransactionIsolation() == Connection.TRANSACTION_READ_COMMITTED
                    ? Isolation.READ_COMMITTED
                    : Isolation.STRICTER;
        }
        return isolation == Isolation.READ_COMMITTED;
    }
}
