package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.hapax.store.StoreException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections that break while they are prepared for a batch. */
class SessionsTest {
    private static final TestDatabase DATABASE = TestDatabase.empty();

    @ParameterizedTest
    @CsvSource({
        "true, getTransactionIsolation",
        "true, getNetworkTimeout",
        "false, getNetworkTimeout",
        "false, setReadOnly",
        "false, isReadOnly"
    })
    void connectionThatCannotBePreparedGoesBackAsItWas(boolean autoCommit, String broken) throws SQLException {
        try (Connection physical = DATABASE.unpooled().getConnection()) {
            physical.setAutoCommit(autoCommit);
            physical.setNetworkTimeout(Runnable::run, 54_321);
            OneConnection pool = new OneConnection(failing(physical, broken));
            Sessions sessions = new Sessions(pool, Duration.ofSeconds(3));

            assertThatExceptionOfType(SQLException.class)
                    .isThrownBy(sessions::open)
                    .withMessage(broken);

            try (Connection again = pool.getConnection()) {
                assertThat(again.isClosed()).isFalse();
            }
            assertThat(physical.getAutoCommit()).isEqualTo(autoCommit);
            assertThat(physical.getNetworkTimeout()).isEqualTo(54_321);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void simpleQueryModeIsRefused(boolean autoCommit) throws SQLException {
        try (Connection physical = TestDatabase.unpooled(DATABASE.jdbcUrl() + "&preferQueryMode=simple")
                .getConnection()) {
            physical.setAutoCommit(autoCommit);
            Sessions sessions = new Sessions(new OneConnection(physical), Duration.ofSeconds(3));

            for (int i = 0; i < 2; i++) {
                assertThatExceptionOfType(StoreException.class)
                        .isThrownBy(sessions::open)
                        .withMessageContaining("preferQueryMode=simple");
                assertThat(physical.getAutoCommit()).isEqualTo(autoCommit);
            }
        }
    }

    private static Connection failing(Connection connection, String broken) {
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals(broken)) {
                        throw new SQLException(broken, "XX000");
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
