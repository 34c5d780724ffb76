package dev.hapax.postgres.outbox;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Passes statements on, and lets a test interfere before and after each. Safe for use by many threads. */
class HookedDataSource extends PGSimpleDataSource {
    private static final long serialVersionUID = 1L;

    private final transient DataSource dataSource;

    HookedDataSource(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    /** Called on the thread that wants a connection. */
    void beforeConnection() throws SQLException {}

    /** Called when the connection is there. */
    void afterConnection() {}

    /** Called on the thread that sends the statement. */
    void beforeStatement(String sql) throws SQLException {}

    /** Called when the statement has been executed, and is committed where the connection commits by itself. */
    void afterStatement(String sql) throws SQLException {}

    @Override
    public Connection getConnection() throws SQLException {
        beforeConnection();
        Connection connection = dataSource.getConnection();
        afterConnection();
        return proxy(Connection.class, (method, arguments) -> {
            Object result = call(connection, method, arguments);
            return result instanceof PreparedStatement statement ? hooked(statement, (String) arguments[0]) : result;
        });
    }

    private PreparedStatement hooked(PreparedStatement statement, String sql) {
        return proxy(PreparedStatement.class, (method, arguments) -> {
            if (!method.getName().startsWith("execute")) {
                return call(statement, method, arguments);
            }
            beforeStatement(sql);
            Object result = call(statement, method, arguments);
            afterStatement(sql);
            return result;
        });
    }

    private interface Call {
        Object run(Method method, Object[] arguments) throws Throwable;
    }

    private static <T> T proxy(Class<T> type, Call call) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> call.run(method, arguments)));
    }

    private static Object call(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
