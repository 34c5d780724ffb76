package dev.hapax.messaging.queues;

import dev.hapax.HapaxListener;
import dev.hapax.store.ExpiredLease;
import dev.hapax.store.OperationKey;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What happened to the messages of a consumer. A test that injects faults asserts with it that they had consequences: a
 * run without redeliveries, second attempts and suppressed duplicates shows nothing.
 */
public final class Observations implements HapaxListener {
    public final AtomicInteger redelivered = new AtomicInteger();
    public final AtomicInteger replayed = new AtomicInteger();
    public final AtomicInteger retried = new AtomicInteger();
    public final AtomicInteger inProgress = new AtomicInteger();
    public final AtomicInteger refused = new AtomicInteger();
    public final AtomicInteger leasesExpired = new AtomicInteger();

    /** A key function that also counts the deliveries that the broker made before. */
    public <M> Function<M, @Nullable String> counting(Predicate<M> isRedelivered, Function<M, @Nullable String> key) {
        return message -> {
            if (isRedelivered.test(message)) {
                redelivered.incrementAndGet();
            }
            return key.apply(message);
        };
    }

    @Override
    public void claimed(OperationKey key, int attempt) {
        if (attempt > 1) {
            retried.incrementAndGet();
        }
    }

    @Override
    public void replayed(OperationKey key) {
        replayed.incrementAndGet();
    }

    @Override
    public void inProgress(OperationKey key) {
        inProgress.incrementAndGet();
    }

    @Override
    public void refused(OperationKey key, Throwable cause) {
        refused.incrementAndGet();
    }

    @Override
    public void leaseExpired(ExpiredLease lease) {
        leasesExpired.incrementAndGet();
    }
}
