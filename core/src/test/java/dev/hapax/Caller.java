package dev.hapax;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A thread that makes one call, and what came of it. */
final class Caller<T> {
    private static final Duration LONG_ENOUGH = Duration.ofSeconds(10);

    private final CompletableFuture<T> result = new CompletableFuture<>();
    private final CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    private final Thread thread;

    private Caller(Callable<T> call) {
        thread = new Thread(() -> make(call), "caller");
        thread.setDaemon(true);
        thread.start();
    }

    static <T> Caller<T> start(Callable<T> call) {
        return new Caller<>(call);
    }

    private void make(Callable<T> call) {
        try {
            result.complete(call.call());
        } catch (Throwable thrown) {
            result.completeExceptionally(thrown);
        } finally {
            interrupted.complete(Thread.currentThread().isInterrupted());
        }
    }

    /** What the call returned. */
    T result() {
        return result.orTimeout(LONG_ENOUGH.toSeconds(), TimeUnit.SECONDS).join();
    }

    /** What the call threw, as it was thrown. */
    Throwable failure() {
        try {
            T value = result.get(LONG_ENOUGH.toSeconds(), TimeUnit.SECONDS);
            throw new AssertionError("nothing was thrown; the result is " + value);
        } catch (ExecutionException e) {
            return e.getCause();
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError("the call did not end", e);
        }
    }

    boolean isDone() {
        return result.isDone();
    }

    /** Whether the thread's interrupt flag was set when the call ended. */
    boolean wasInterrupted() {
        return interrupted.orTimeout(LONG_ENOUGH.toSeconds(), TimeUnit.SECONDS).join();
    }

    Caller<T> untilItWaits() {
        await().until(this::waits);
        return this;
    }

    boolean waits() {
        return thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING;
    }

    void interrupt() {
        thread.interrupt();
    }
}
