package dev.hapax.postgres;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.concurrent.Semaphore;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A pool of one that cleans up nothing: whatever a user leaves behind in the connection is there to be seen. Pools such
 * as HikariCP hide much of it.
 */
final class OneConnection extends PGSimpleDataSource {
    private static final long serialVersionUID = 1L;

    private final transient Connection connection;
    private final transient Semaphore free = new Semaphore(1);

    OneConnection(Connection connection) {
        this.connection = connection;
    }

    @Override
    public Connection getConnection() {
        free.acquireUninterruptibly();
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, this::call);
    }

    private Object call(Object proxy, Method method, Object[] arguments) throws Throwable {
        if (method.getName().equals("close")) {
            free.release();
            return null;
        }
        try {
            return method.invoke(connection, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
