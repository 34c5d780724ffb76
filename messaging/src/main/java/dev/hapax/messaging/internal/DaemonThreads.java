package dev.hapax.messaging.internal;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Pools of daemon threads that end when they have been idle for a while. */
public final class DaemonThreads {
    private static final long IDLE_SECONDS = 10;

    private DaemonThreads() {}

    /** With room for any number of tasks that wait for a thread. */
    public static ThreadPoolExecutor pool(int threads, String name) {
        return pool(threads, Integer.MAX_VALUE, name);
    }

    /**
     * @param maxWaiting how many tasks may wait for a thread before more are rejected
     * @param name what the threads are called, followed by a number
     */
    public static ThreadPoolExecutor pool(int threads, int maxWaiting, String name) {
        AtomicInteger count = new AtomicInteger();
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                threads, threads, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(maxWaiting), task -> {
                    Thread thread = new Thread(task, name + "-" + count.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }
}
