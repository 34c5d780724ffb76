package dev.hapax.messaging.internal;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Actions that any thread hands to a loop's thread. The loop's state then has one owner and needs no locks: clients and
 * the engine answer on threads of their own, which only leave an action here.
 */
public final class ActionQueue {
    private final Queue<Runnable> actions = new ConcurrentLinkedQueue<>();
    private final Semaphore signals = new Semaphore(0);

    /** Has an action run on the loop's thread. Never blocks. */
    public void submit(Runnable action) {
        actions.add(action);
        signals.release();
    }

    /** Ends the loop's current wait. */
    public void wake() {
        signals.release();
    }

    /**
     * Runs the actions that are there, or that arrive in time. For the loop's thread only.
     *
     * @param until how long to wait for the first one, as {@link System#nanoTime} counts
     */
    public void runPending(long until) throws InterruptedException {
        if (signals.tryAcquire(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS)) {
            signals.drainPermits();
        }
        for (Runnable action = actions.poll(); action != null; action = actions.poll()) {
            action.run();
        }
    }
}
