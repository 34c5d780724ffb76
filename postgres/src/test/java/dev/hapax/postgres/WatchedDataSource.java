package dev.hapax.postgres;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Passes connections on, and keeps count of who takes how many. Safe for use by many threads. */
class WatchedDataSource extends PGSimpleDataSource {
    private static final long serialVersionUID = 1L;

    private final transient DataSource dataSource;
    private final transient Queue<Thread> users = new ConcurrentLinkedQueue<>();
    private final AtomicInteger inUse = new AtomicInteger();
    private final AtomicInteger mostInUse = new AtomicInteger();

    WatchedDataSource(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    @Override
    public Connection getConnection() throws SQLException {
        users.add(Thread.currentThread());
        Connection connection = dataSource.getConnection();
        mostInUse.accumulateAndGet(inUse.incrementAndGet(), Math::max);
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("close")) {
                        inUse.decrementAndGet();
                    } else if (method.getName().equals("prepareStatement")) {
                        beforeStatement();
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    /** Called before each statement, on the thread that sends it. */
    void beforeStatement() throws SQLException {}

    int checkouts() {
        return users.size();
    }

    int mostInUse() {
        return mostInUse.get();
    }

    /** The threads that took a connection. */
    Queue<Thread> users() {
        return users;
    }
}
