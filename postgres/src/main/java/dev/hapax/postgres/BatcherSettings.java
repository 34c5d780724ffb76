package dev.hapax.postgres;

import dev.hapax.store.ServiceThread;
import dev.hapax.store.StoreUnavailableException;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;

/**
 * What the batchers of one store share.
 *
 * @param retryThread one thread, which tries again what was locked
 * @param callerThreads whether callers' threads may use the database
 */
record BatcherSettings(
        Sessions sessions,
        int maxBatchSize,
        Executor workers,
        ScheduledExecutorService retryThread,
        boolean callerThreads) {

    BatcherSettings withMaxBatchSize(int operations) {
        return new BatcherSettings(sessions, operations, workers, retryThread, callerThreads);
    }

    /**
     * For tasks without statements: where no thread can be had they run on this one, since late is better than never.
     */
    void execute(Runnable task) {
        try {
            workers.execute(task);
        } catch (RuntimeException | Error e) {
            task.run();
        }
    }

    /** For tasks with statements: where no thread can be had they run on this one, if that may use the database. */
    void executeStatements(Runnable task, Consumer<StoreUnavailableException> refused) {
        try {
            workers.execute(task);
        } catch (RuntimeException | Error e) {
            if (callerThreads || ServiceThread.isCurrent()) {
                task.run();
            } else {
                refused.accept(new StoreUnavailableException("No thread could be had to send the request: " + e, e));
            }
        }
    }
}
