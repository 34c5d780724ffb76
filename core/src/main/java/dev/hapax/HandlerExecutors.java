package dev.hapax;

import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Where handlers run if the user named no executor: on virtual threads, or on a bounded pool before Java 21. */
final class HandlerExecutors {
    private static final int MAX_PLATFORM_THREADS = 64;

    private HandlerExecutors() {}

    static Executor standard() {
        try {
            return (Executor)
                    Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (ReflectiveOperationException beforeJava21) {
            return platformThreads();
        }
    }

    static Executor platformThreads() {
        AtomicInteger count = new AtomicInteger();
        ThreadFactory daemons = task -> {
            Thread thread = new Thread(task, "hapax-handler-" + count.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                MAX_PLATFORM_THREADS, MAX_PLATFORM_THREADS, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), daemons);
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }
}
