package dev.hapax.messaging.queues;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;

/** Holds the handlers of later messages until a fault has struck, so that it meets messages in hand on any machine. */
public final class FaultGate {
    private final int firstHeld;
    private final AtomicInteger handlers = new AtomicInteger();
    private final AtomicInteger held = new AtomicInteger();
    private final CountDownLatch struck = new CountDownLatch(1);

    /** @param firstHeld the number of the first message whose handler waits */
    public FaultGate(int firstHeld) {
        this.firstHeld = firstHeld;
    }

    /** Called by handlers. */
    void pass(int number) {
        handlers.incrementAndGet();
        if (number >= firstHeld) {
            held.incrementAndGet();
            try {
                struck.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** How many handlers came by: more than messages, if some ran again. */
    public int handlers() {
        return handlers.get();
    }

    /** Returns when handlers wait. */
    public void awaitHeld() {
        Awaitility.await("handlers that wait").until(() -> held.get() > 0);
    }

    /** Lets the handlers go on: the fault has struck. */
    public void open() {
        struck.countDown();
    }
}
