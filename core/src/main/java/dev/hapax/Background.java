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
    private static final int MOST_HANDLERS = 64;

    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, daemons("hapax-timer"));
    private final ThreadPoolExecutor workers =
            pool(Math.max(4, 2 * Runtime.getRuntime().availableProcessors()), "hapax-worker");
    private final ThreadPoolExecutor handlers = pool(MOST_HANDLERS, "hapax-handler");

    Background() {
        timer.setRemoveOnCancelPolicy(true);
    }

    private static ThreadPoolExecutor pool(int threads, String name) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                threads, threads, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), daemons(name));
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    ScheduledExecutorService timer() {
        return timer;
    }

    /** Where no thread can be had the task runs on this one: late is better than never. */
    @Override
    public void execute(Runnable task) {
        try {
            workers.execute(task);
        } catch (RuntimeException | Error e) {
            task.run();
        }
    }

    /** For the user's own handlers: if they block, nothing else waits for them. */
    Executor handlers() {
        return handlers;
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
