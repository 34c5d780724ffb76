package dev.hapax.messaging.kafka;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Logger;
import javax.sql.DataSource;

/** Counts how often a connection is asked for, whether one is had or not. */
final class CountingDataSource implements DataSource {
    private final DataSource dataSource;
    private final AtomicLong asked = new AtomicLong();

    CountingDataSource(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    long asked() {
        return asked.get();
    }

    @Override
    public Connection getConnection() throws SQLException {
        asked.incrementAndGet();
        return dataSource.getConnection();
    }

    @Override
    public Connection getConnection(String user, String password) {
        throw new UnsupportedOperationException();
    }

    @Override
    public PrintWriter getLogWriter() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void setLogWriter(PrintWriter out) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void setLoginTimeout(int seconds) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int getLoginTimeout() {
        throw new UnsupportedOperationException();
    }

    @Override
    public Logger getParentLogger() {
        throw new UnsupportedOperationException();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        return dataSource.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return dataSource.isWrapperFor(type);
    }
}
