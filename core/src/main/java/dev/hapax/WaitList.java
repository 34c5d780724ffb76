package dev.hapax;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Calls that wait for one value. One that gives up leaves nothing behind. Safe for use by many threads. */
final class WaitList<T> {
    /** Made for the first one: most calls are waited for by nobody. */
    private @Nullable Set<CompletableFuture<T>> waiting;

    private @Nullable T value;

    /** A stage of the caller's own, done when the value is there. */
    synchronized CompletableFuture<T> join() {
        CompletableFuture<T> waiter = new CompletableFuture<>();
        if (value != null) {
            waiter.complete(value);
            return waiter;
        }
        if (waiting == null) {
            waiting = new LinkedHashSet<>();
        }
        waiting.add(waiter);
        return waiter;
    }

    /** @return whether nobody waits any more */
    @SuppressWarnings("CollectionUndefinedEquality") // the very same one is meant
    synchronized boolean leave(CompletableFuture<T> waiter) {
        if (waiting != null) {
            waiting.remove(waiter);
        }
        return waiting == null || waiting.isEmpty();
    }

    /** The first value counts. */
    void complete(T found) {
        List<CompletableFuture<T>> told;
        synchronized (this) {
            if (value != null) {
                return;
            }
            value = found;
            told = waiting == null ? List.of() : new ArrayList<>(waiting);
            waiting = null;
        }
        told.forEach(waiter -> waiter.complete(found));
    }

    synchronized int size() {
        return waiting == null ? 0 : waiting.size();
    }
}
