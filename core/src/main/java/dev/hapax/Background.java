package dev.hapax;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The threads of one {@link Hapax}: a timer that never blocks, and a few workers for what may. */
final class Background implements Executor, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Background.class);

    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, daemons("hapax-timer"));
    private final ThreadPoolExecutor workers;

    Background() {
        timer.setRemoveOnCancelPolicy(true);
        int threads = Math.max(4, 2 * Runtime.getRuntime().availableProcessors());
        workers = new ThreadPoolExecutor(
                threads, threads, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), daemons("hapax-worker"));
        workers.allowCoreThreadTimeOut(true);
    }

    ScheduledExecutorService timer() {
        return timer;
    }

    @Override
    public void execute(Runnable task) {
        workers.execute(task);
    }

    /** @throws java.util.concurrent.RejectedExecutionException once closed */
    void executeAfter(Duration delay, Runnable task) {
        timer.schedule(() -> execute(task), delay.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Stops what recurs. What was begun still ends: workers go by themselves when they have nothing to do. */
    @Override
    public void close() {
        timer.shutdown();
    }

    static ThreadFactory daemons(String name) {
        AtomicInteger count = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, name + "-" + count.incrementAndGet());
            thread.setDaemon(true);
            thread.setUncaughtExceptionHandler((t, error) -> log.error("{} failed", t.getName(), error));
            return thread;
        };
    }
}
