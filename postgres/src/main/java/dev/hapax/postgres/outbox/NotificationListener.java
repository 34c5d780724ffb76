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
 * Wakes the relay when PostgreSQL notifies of a commit, on a connection and a thread of its own. The relay also finds
 * messages without it, a little later, so a broken connection is opened again after a pause.
 */
final class NotificationListener implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(NotificationListener.class);
    private static final Duration LOOK_FOR_LIFE = Duration.ofSeconds(30);
    private static final Duration STEP = Duration.ofSeconds(1);
    private static final Duration PAUSE = Duration.ofSeconds(5);
    private static final int VALID_SECONDS = 5;

    private final DataSource dataSource;
    private final Notifications notifications;
    private final Runnable wakeRelay;
    private final CountDownLatch closed = new CountDownLatch(1);

    NotificationListener(DataSource dataSource, Notifications notifications, Runnable wakeRelay) {
        this.dataSource = dataSource;
        this.notifications = notifications;
        this.wakeRelay = wakeRelay;
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
            } catch (Throwable e) { // whatever the driver or the user's code throws: only close() ends this thread
                log.warn("Not listening for new messages, will try again in {}: {}", PAUSE, e.toString());
                closedWithin(PAUSE);
            }
        }
    }

    private void listen(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("LISTEN " + Outbox.CHANNEL);
            wakeRelay.run(); // for what was missed until now
            await(connection);
            statement.execute("UNLISTEN " + Outbox.CHANNEL);
        }
    }

    private void await(Connection connection) throws SQLException {
        long lookAt = System.nanoTime() + LOOK_FOR_LIFE.toNanos();
        while (!closedWithin(Duration.ZERO)) {
            if (notifications.await(connection, STEP)) {
                wakeRelay.run();
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
        } catch (InterruptedException leftBehind) {
            return closed.getCount() == 0;
        }
    }
}
