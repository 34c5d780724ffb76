package dev.hapax.postgres;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * What the lanes of one store share.
 *
 * @param lockTimeout how long a round waits for a row that somebody else has locked
 * @param patience how long a job waits for such a row, in all
 */
record LaneSettings(
        Sessions sessions,
        Duration lockTimeout,
        Duration patience,
        int largestRound,
        Executor workers,
        ScheduledExecutorService timer) {

    /** For jobs that come again by themselves. */
    LaneSettings withoutPatience() {
        return new LaneSettings(sessions, lockTimeout, Duration.ZERO, largestRound, workers, timer);
    }

    LaneSettings withLargestRound(int operations) {
        return new LaneSettings(sessions, lockTimeout, patience, operations, workers, timer);
    }

    void later(Duration pause, Runnable task) {
        timer.schedule(() -> execute(task), pause.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Where no thread can be had the task runs on this one: late is better than never. */
    void execute(Runnable task) {
        try {
            workers.execute(task);
        } catch (RuntimeException | Error e) {
            task.run();
        }
    }
}
