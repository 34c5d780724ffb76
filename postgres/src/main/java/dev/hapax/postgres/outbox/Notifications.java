package dev.hapax.postgres.outbox;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Waits for PostgreSQL's notifications, which JDBC has no words for and the driver has:
 *
 * <pre>{@code
 * (connection, atMost) ->
 *     connection.unwrap(PGConnection.class).getNotifications((int) atMost.toMillis()).length > 0
 * }</pre>
 */
@FunctionalInterface
public interface Notifications {

    /**
     * @param connection one that listens already
     * @return whether there was one
     */
    boolean await(Connection connection, Duration atMost) throws SQLException;
}
