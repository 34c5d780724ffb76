package dev.hapax.postgres;

import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;

/**
 * What the batchers of one store share.
 *
 * @param retryThread one thread, which tries again what was locked
 */
record BatcherSettings(Sessions sessions, int maxBatchSize, Executor workers, ScheduledExecutorService retryThread) {

    BatcherSettings withMaxBatchSize(int operations) {
        return new BatcherSettings(sessions, operations, workers, retryThread);
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
