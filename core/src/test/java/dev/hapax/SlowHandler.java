package dev.hapax;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A handler that begins, and ends when the test says so. Interruptions do not end it. */
final class SlowHandler implements Handler<String, RuntimeException> {
    private final CompletableFuture<Lease> begun = new CompletableFuture<>();
    private final CompletableFuture<String> end = new CompletableFuture<>();
    private final AtomicInteger runs = new AtomicInteger();

    @Override
    public String run(Lease lease) {
        runs.incrementAndGet();
        begun.complete(lease);
        try {
            return end.join();
        } catch (java.util.concurrent.CompletionException e) {
            throw (RuntimeException) e.getCause();
        }
    }

    /** The same without a thread. */
    CompletionStage<String> runAsync(Lease lease) {
        runs.incrementAndGet();
        begun.complete(lease);
        return end;
    }

    /** Waits until it runs. */
    Lease lease() {
        return begun.orTimeout(10, TimeUnit.SECONDS).join();
    }

    void endWith(String value) {
        end.complete(value);
    }

    void failWith(RuntimeException thrown) {
        end.completeExceptionally(thrown);
    }

    int runs() {
        return runs.get();
    }
}
