package dev.hapax.messaging.internal;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The daemon thread of a consumer loop, from its start to its end. Safe for use by many threads. */
public final class LoopThread implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(LoopThread.class);

    private final Loop loop;
    private final Thread thread;
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();

    /** What the thread runs. */
    public interface Loop {

        /**
         * Consumes until {@link #stop} was called, then hands over and cleans up.
         *
         * @throws Exception what stopped the loop, if it was not asked to stop
         */
        void run() throws Exception;

        /** Asks the loop to end soon. Called from any thread, any number of times; does not wait. */
        void stop();
    }

    private LoopThread(String name, Loop loop) {
        this.loop = loop;
        this.thread = new Thread(this::run, name);
        thread.setDaemon(true);
    }

    public static LoopThread start(String name, Loop loop) {
        LoopThread started = new LoopThread(name, loop);
        started.thread.start();
        return started;
    }

    private void run() {
        try {
            loop.run();
            stopped.complete(null);
        } catch (Throwable broken) {
            log.error("{} stops", thread.getName(), broken);
            stopped.completeExceptionally(broken);
        }
    }

    public boolean isRunning() {
        return !stopped.isDone();
    }

    /** Completes when the loop was closed; fails with what stopped it if it stopped by itself. */
    public CompletionStage<Void> stopped() {
        return stopped.copy();
    }

    /**
     * Stops the loop and waits for its end, but not for what is chained to {@link #stopped}. Closing twice does
     * nothing. An interrupted caller waits no longer; the loop's own thread does not wait.
     */
    @Override
    public void close() {
        loop.stop();
        if (Thread.currentThread() != thread) {
            awaitStopped();
        }
    }

    private void awaitStopped() {
        try {
            stopped.get();
        } catch (ExecutionException broken) {
            // logged, and reported by stopped()
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
