package dev.hapax.messaging.kafka;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Pools of daemon threads that end when they have been idle for a while. */
final class DaemonThreads {
    private DaemonThreads() {}

    /** @param maxWaiting how many tasks may wait for a thread before more are rejected */
    static ThreadPoolExecutor pool(int threads, int maxWaiting, String name) {
        AtomicInteger count = new AtomicInteger();
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                threads, threads, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(maxWaiting), task -> {
                    Thread thread = new Thread(task, name + "-" + count.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }
}
