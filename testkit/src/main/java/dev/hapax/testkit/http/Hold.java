package dev.hapax.testkit.http;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Keeps executions of one tag in the middle of their work until it is released. Thread-safe. */
public final class Hold implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 60;

    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    Hold() {}

    /** Returns when an execution has begun. */
    public void awaitEntered() {
        await(entered, "nothing was executed");
    }

    public void release() {
        released.countDown();
    }

    @Override
    public void close() {
        release();
    }

    void pass() {
        entered.countDown();
        await(released, "the execution was not released");
    }

    private static void await(CountDownLatch latch, String otherwise) {
        try {
            if (!latch.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError(otherwise);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new AssertionError(otherwise, interrupted);
        }
    }
}
