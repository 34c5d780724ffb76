package dev.hapax.http.servlet;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BooleanSupplier;

/** Hands tasks to the one thread that waits here, so that a servlet runs where its container started it. */
final class RunLoop implements Executor {
    private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
    private boolean left;
    private volatile boolean interrupted;

    /** @throws RejectedExecutionException when the thread does not wait any more */
    @Override
    public synchronized void execute(Runnable task) {
        if (left) {
            throw new RejectedExecutionException("the thread of the request has left");
        }
        tasks.add(task);
    }

    /** Lets the thread look whether it is done. */
    void wake() {
        tasks.add(() -> {});
    }

    /** Whether the thread was told to leave early: what it carries out from then on should do no more than say so. */
    boolean interrupted() {
        return interrupted;
    }

    /** Carries tasks out until {@code done} or interrupted. Whatever was handed over by then is carried out still. */
    void runUntil(BooleanSupplier done) {
        try {
            while (!done.getAsBoolean()) {
                tasks.take().run();
            }
        } catch (InterruptedException leaveEarly) {
            interrupted = true;
        } finally {
            leave();
        }
    }

    private void leave() {
        synchronized (this) {
            left = true;
        }
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
    }
}
