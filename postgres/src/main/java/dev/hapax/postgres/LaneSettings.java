package dev.hapax.postgres;

import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;

/**
 * What the lanes of one store share.
 *
 * @param retryThread one thread, which tries again what was locked
 */
record LaneSettings(Sessions sessions, int largestRound, Executor workers, ScheduledExecutorService retryThread) {

    LaneSettings withLargestRound(int operations) {
        return new LaneSettings(sessions, operations, workers, retryThread);
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
