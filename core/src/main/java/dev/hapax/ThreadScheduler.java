package dev.hapax;

import dev.hapax.store.ServiceThread;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The system's clocks, a timer thread that only hands over, and a few workers. */
final class ThreadScheduler implements Scheduler {
    private final ScheduledThreadPoolExecutor timer =
            new ScheduledThreadPoolExecutor(1, ServiceThread.factory("hapax-timer"));
    private final ThreadPoolExecutor workers = workers();

    ThreadScheduler() {
        timer.setRemoveOnCancelPolicy(true);
    }

    private static ThreadPoolExecutor workers() {
        int threads = Math.max(4, 2 * Runtime.getRuntime().availableProcessors());
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                threads,
                threads,
                10,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                ServiceThread.factory("hapax-worker"));
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public Instant instant() {
        return Instant.now();
    }

    /** If no thread can be had, the task runs on this one: late is better than never. */
    @Override
    public void execute(Runnable task) {
        try {
            workers.execute(task);
        } catch (RuntimeException | Error e) {
            task.run();
        }
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
        ScheduledFuture<?> scheduled =
                timer.schedule(() -> execute(task), Math.max(0, delay.toNanos()), TimeUnit.NANOSECONDS);
        return () -> scheduled.cancel(false);
    }

    /** Workers end by themselves when they have nothing to do. */
    @Override
    public void close() {
        timer.shutdown();
    }
}
