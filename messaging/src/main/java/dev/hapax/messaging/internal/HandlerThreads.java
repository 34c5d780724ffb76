package dev.hapax.messaging.internal;

import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;
import org.jspecify.annotations.Nullable;

/**
 * Where a loop's handlers run: on the user's executor, or on a bounded pool of daemon threads that end when idle. Safe
 * for use by many threads.
 */
public final class HandlerThreads implements Executor, AutoCloseable {
    private final Executor executor;
    private final @Nullable ThreadPoolExecutor pool;

    /** @param name what the pool's threads are called, followed by a number */
    public HandlerThreads(LoopSettings settings, String name) {
        Executor given = settings.executor();
        ThreadPoolExecutor own = given == null ? DaemonThreads.pool(settings.threads(), name) : null;
        this.pool = own;
        this.executor = own == null ? Objects.requireNonNull(given) : own;
    }

    @Override
    public void execute(Runnable handler) {
        executor.execute(handler);
    }

    /** Lets the pool's threads end when what they were given is done. The user's executor is left as it is. */
    @Override
    public void close() {
        if (pool != null) {
            pool.shutdown();
        }
    }
}
