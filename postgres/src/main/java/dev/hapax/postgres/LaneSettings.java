package dev.hapax.postgres;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/** What the lanes of one store share. */
record LaneSettings(
        DataSource dataSource,
        Duration ioTimeout,
        Session.Guard patientGuard,
        Session.Guard impatientGuard,
        Duration patience,
        int largestRound,
        Executor workers,
        ScheduledExecutorService timer) {

    Session openSession() throws SQLException {
        return Session.open(dataSource, ioTimeout);
    }

    void later(Duration pause, Runnable task) {
        timer.schedule(() -> workers.execute(task), pause.toNanos(), TimeUnit.NANOSECONDS);
    }
}
