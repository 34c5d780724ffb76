package dev.hapax.store;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A daemon thread of Hapax or of a store, which others wait for: it must never wait for them. A blocking call on such a
 * thread is refused at once, since it could wait for an answer that only this thread can give.
 */
public final class ServiceThread extends Thread {
    private static final Logger log = LoggerFactory.getLogger(ServiceThread.class);

    private ServiceThread(Runnable task, String name) {
        super(null, task, name, 0, false); // a caller's tenant or transaction is not to be inherited
        setDaemon(true);
        setUncaughtExceptionHandler((thread, error) -> log.error("{} failed", thread.getName(), error));
    }

    /** Makes threads called {@code name-1}, {@code name-2}, and so on. */
    public static ThreadFactory factory(String name) {
        AtomicInteger count = new AtomicInteger();
        return task -> new ServiceThread(task, name + "-" + count.incrementAndGet());
    }

    /** Whether the current thread is one of these. */
    public static boolean isCurrent() {
        return Thread.currentThread() instanceof ServiceThread;
    }
}
