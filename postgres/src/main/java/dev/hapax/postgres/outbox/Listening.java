package dev.hapax.postgres.outbox;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns notifications into hints, on a connection and a thread of its own. Only a hint: without it the relay finds
 * everything a little later, so a connection that breaks is opened again without hurry.
 */
final class Listening implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(Listening.class);
    private static final Duration LOOK_FOR_LIFE = Duration.ofSeconds(30);
    private static final Duration STEP = Duration.ofSeconds(1);
    private static final Duration PAUSE = Duration.ofSeconds(5);
    private static final int VALID_SECONDS = 5;

    private final DataSource dataSource;
    private final Notifications notifications;
    private final Runnable hint;
    private final CountDownLatch closed = new CountDownLatch(1);

    Listening(DataSource dataSource, Notifications notifications, Runnable hint) {
        this.dataSource = dataSource;
        this.notifications = notifications;
        this.hint = hint;
    }

    void close() {
        closed.countDown();
    }

    @Override
    public void run() {
        while (!closedWithin(Duration.ZERO)) {
            try (Connection connection = dataSource.getConnection()) {
                connection.setAutoCommit(true);
                listen(connection);
            } catch (SQLException | RuntimeException e) {
                log.warn("Not listening for new messages, will try again in {}: {}", PAUSE, e.toString());
                closedWithin(PAUSE);
            }
        }
    }

    private void listen(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("LISTEN " + Outbox.CHANNEL);
            hint.run(); // for what was missed until now
            await(connection);
            statement.execute("UNLISTEN " + Outbox.CHANNEL);
        }
    }

    private void await(Connection connection) throws SQLException {
        long lookAt = System.nanoTime() + LOOK_FOR_LIFE.toNanos();
        while (!closedWithin(Duration.ZERO)) {
            if (notifications.await(connection, STEP)) {
                hint.run();
            } else if (System.nanoTime() - lookAt >= 0) {
                if (!connection.isValid(VALID_SECONDS)) {
                    throw new SQLException("the connection that listens is broken");
                }
                lookAt = System.nanoTime() + LOOK_FOR_LIFE.toNanos();
            }
        }
    }

    private boolean closedWithin(Duration pause) {
        try {
            return closed.await(pause.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }
}
