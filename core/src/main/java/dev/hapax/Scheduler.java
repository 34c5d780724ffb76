package dev.hapax;

import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.Executor;

/**
 * The clocks and the threads that a {@link Hapax} uses for itself. Safe for use by many threads.
 *
 * <p>The default uses the system's clocks and a few daemon threads. A test or a simulation brings its own, and then
 * nothing happens in Hapax that it did not cause: time passes and tasks run when it says so.
 *
 * <p>Tasks are short and never block. Handlers and other code of users do not run here but on the
 * {@linkplain Hapax.Builder#handlerExecutor handler executor}.
 */
public interface Scheduler extends Executor, InstantSource, AutoCloseable {

    /** A clock that only goes forward, in nanoseconds from an arbitrary origin, like {@link System#nanoTime}. */
    long nanoTime();

    /** Runs a task soon. Never refuses. */
    @Override
    void execute(Runnable task);

    /**
     * Runs a task once, after a delay.
     *
     * @throws java.util.concurrent.RejectedExecutionException once closed
     */
    Timer schedule(Duration delay, Runnable task);

    /** Accepts no more tasks to {@link #schedule}; those that it has still run. */
    @Override
    void close();

    /** A scheduled task. */
    @FunctionalInterface
    interface Timer {
        /** Prevents the task from running, unless it has begun. */
        void cancel();
    }
}
