package dev.hapax.postgres;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Requests whose rows are locked by other transactions, until they are tried again. All of a store's batchers share one
 * thread for that, and whatever is due at the same time is one batch: however many requests are locked, and for however
 * long, they take one connection.
 */
final class LockedRequests<Q, A> {
    private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(500);

    private final ScheduledExecutorService retryThread;
    private final int maxBatchSize;
    private final Consumer<List<PendingRequest<Q, A>>> retry;
    private final Queue<PendingRequest<Q, A>> due = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean scheduled = new AtomicBoolean();

    LockedRequests(ScheduledExecutorService retryThread, int maxBatchSize, Consumer<List<PendingRequest<Q, A>>> retry) {
        this.retryThread = retryThread;
        this.maxBatchSize = maxBatchSize;
        this.retry = retry;
    }

    /**
     * Tries it again after a pause, which is the longer the longer the request has waited.
     *
     * @throws RejectedExecutionException when the retry thread is not to be had
     */
    void add(PendingRequest<Q, A> request, Duration remaining) {
        Duration pause =
                atMost(LONGEST_PAUSE, atLeast(FIRST_PAUSE, request.age().dividedBy(4)));
        retryThread.schedule(() -> retrySoon(request), atMost(remaining, pause).toNanos(), TimeUnit.NANOSECONDS);
    }

    /** The retry comes after all that are due by now, since they were due before it. */
    private void retrySoon(PendingRequest<Q, A> request) {
        due.add(request);
        schedule();
    }

    private void schedule() {
        if (scheduled.compareAndSet(false, true)) {
            try {
                retryThread.execute(this::retryDue);
            } catch (RuntimeException | Error noThread) {
                retryDue(); // on this one, which is the retry thread
            }
        }
    }

    /** Whatever happens to one batch, the others that are due are tried. */
    private void retryDue() {
        scheduled.set(false);
        try {
            while (!due.isEmpty()) {
                retry.accept(nextBatch());
            }
        } finally {
            if (!due.isEmpty()) {
                schedule();
            }
        }
    }

    private List<PendingRequest<Q, A>> nextBatch() {
        List<PendingRequest<Q, A>> batch = new ArrayList<>();
        PendingRequest<Q, A> request;
        while (batch.size() < maxBatchSize && (request = due.poll()) != null) {
            batch.add(request);
        }
        return batch;
    }

    private static Duration atLeast(Duration least, Duration duration) {
        return duration.compareTo(least) < 0 ? least : duration;
    }

    private static Duration atMost(Duration most, Duration duration) {
        return duration.compareTo(most) > 0 ? most : duration;
    }
}
