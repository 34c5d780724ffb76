package dev.hapax.messaging.kafka;

import dev.hapax.messaging.kafka.PendingRecord.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records that are handled one at a time, in order; the owner of their state. Safe for use by many threads.
 *
 * <p>Records are claimed ahead, together with those of other queues, and wait for their turn with the claim in hand.
 * The number of claims ahead is learned: if leases could not be held until the turn came, there were too many. The next
 * handler begins when the one before has returned, not when its completion has been stored, so completions are stored
 * in batches, as claims are. After a short slice of handlers the queue goes to the back of the executor, so that many
 * partitions share few threads.
 *
 * <p>A record that has to be retried blocks the queue: the first record waits for its delay, and those behind it wait
 * for the first. If the first is retried again and again, the claims behind it are released: two consumers that each
 * hold what the other one needs first would wait for ever. If the first lost its lease while it waited for its turn,
 * the claims behind it are released too. Released records are submitted again once the first is settled, not sooner:
 * every claim counts as an attempt. A record that has to be retried from the middle of the queue (usually a repeat of
 * one further in front) is submitted again as soon as it is the first: things have changed by then. If its handler ran,
 * its delay has to be over, too.
 *
 * <p>Records are submitted by the loop's thread or, if they need not wait for it, on the executor: never on the thread
 * that reports a disposition, because submitting calls functions of the user, and that thread belongs to the engine.
 */
final class OrderedQueue {
    private static final Logger log = LoggerFactory.getLogger(OrderedQueue.class);
    private static final int RETRIES_BEFORE_RELEASE = 3;
    private static final int MAX_CLAIMS_AHEAD = 1000;
    private static final int MAX_HANDLERS_PER_SLICE = 8;
    private static final Duration SLICE = Duration.ofMillis(1);
    private static final Duration MIN_DELAY = Duration.ofMillis(20);

    private final Submitter submitter;
    private final Executor threads;
    private final LongSupplier clock;
    private final LongConsumer settled;
    private final Set<PendingRecord> records = new LinkedHashSet<>();
    private boolean scheduled;
    private volatile boolean executorFailed;
    private boolean closed;
    private int retriesOfFirst;
    private int claimsAhead = MAX_CLAIMS_AHEAD;

    /**
     * Submits records to the engine together. Each of them is then reported with {@link OrderedQueue#settle} or
     * {@link OrderedQueue#retryLater}.
     */
    interface Submitter {
        void submit(List<PendingRecord> records);
    }

    /**
     * @param clock in nanoseconds
     * @param settled receives the offset of every settled record; must not block
     */
    OrderedQueue(Submitter submitter, Executor threads, LongSupplier clock, LongConsumer settled) {
        this.submitter = submitter;
        this.threads = threads;
        this.clock = clock;
        this.settled = settled;
    }

    synchronized void add(ConsumerRecord<byte[], byte[]> record) {
        records.add(new PendingRecord(record, this));
    }

    /** How many records are not settled. */
    synchronized int size() {
        return records.size();
    }

    private @Nullable PendingRecord first() {
        return records.isEmpty() ? null : records.iterator().next();
    }

    /** Whether the first record waits for its delay, so that more records would only wait behind it. */
    synchronized boolean isBlocked() {
        PendingRecord first = first();
        return first != null && first.state == State.DELAYED;
    }

    /** How many records the engine has. */
    synchronized int inEngine() {
        return (int) records.stream().filter(it -> it.state.isInEngine()).count();
    }

    /** What is to be submitted now; counts as submitted. */
    synchronized List<PendingRecord> takeSubmittable() {
        if (closed) {
            return List.of();
        }
        PendingRecord first = first();
        if (first != null && first.state == State.DELAYED) {
            return first.notBefore - clock.getAsLong() <= 0 ? submitted(List.of(first)) : List.of();
        }
        List<PendingRecord> submittable = new ArrayList<>(requeuedInFront());
        if (retriesOfFirst > 0) {
            return submitted(submittable);
        }
        int room = claimsAhead - count(State.SUBMITTED) - count(State.CLAIMED);
        for (PendingRecord it : records) {
            if (it.state == State.FETCHED && room-- > 0) {
                submittable.add(it);
            }
        }
        return submitted(submittable);
    }

    private int count(State state) {
        return (int) records.stream().filter(it -> it.state == state).count();
    }

    private List<PendingRecord> requeuedInFront() {
        return closed
                ? List.of()
                : records.stream().takeWhile(it -> it.state == State.REQUEUED).toList();
    }

    private static List<PendingRecord> submitted(List<PendingRecord> records) {
        records.forEach(it -> it.state = State.SUBMITTED);
        return records;
    }

    /**
     * The record's claim was won, and its handler is to run when it is its turn.
     *
     * @throws RejectedExecutionException when the claim is to be released
     */
    void claimed(PendingRecord pending, Runnable handler) {
        synchronized (this) {
            if (!mayBegin(pending) || pending.state != State.SUBMITTED) {
                throw new RejectedExecutionException("the record is no longer wanted here");
            }
            pending.handler = handler;
            pending.state = State.CLAIMED;
        }
        schedule();
    }

    synchronized boolean mayBegin(PendingRecord pending) {
        return !closed && !pending.releasing;
    }

    /** @param forGood whether the handler need not run again, if storing its completion succeeds */
    void returned(PendingRecord pending, boolean forGood) {
        synchronized (this) {
            pending.state = forGood ? State.RETURNED : State.FAILED;
        }
        schedule();
    }

    /**
     * Hands the queue to the executor if a handler's turn has come, or records are to be submitted again. If the
     * executor fails, the next call tries again: the loop makes one after every poll.
     */
    void schedule() {
        synchronized (this) {
            if (scheduled || (next() == null && requeuedInFront().isEmpty())) {
                return;
            }
            scheduled = true;
        }
        try {
            threads.execute(this::runSlice);
            executorFailed = false;
        } catch (RejectedExecutionException busy) {
            unschedule();
        } catch (RuntimeException | Error failed) { // such as an OutOfMemoryError: no thread could be created
            unschedule();
            if (!executorFailed) {
                log.warn("The executor of the handlers fails, and is tried again: {}", failed.toString());
            }
            executorFailed = true;
        }
    }

    /** Runs a few quick handlers or one slow one: queues that wait for a thread come first then. */
    private void runSlice() {
        long until = clock.getAsLong() + SLICE.toNanos();
        try {
            submitAgain();
            int left = MAX_HANDLERS_PER_SLICE;
            do {
                Runnable handler = takeNext();
                if (handler == null) {
                    return;
                }
                handler.run();
            } while (--left > 0 && until - clock.getAsLong() > 0);
        } finally {
            unschedule();
            schedule();
        }
    }

    private void submitAgain() {
        List<PendingRecord> again;
        synchronized (this) {
            again = submitted(requeuedInFront());
        }
        if (!again.isEmpty()) {
            submitter.submit(again);
        }
    }

    private synchronized void unschedule() {
        scheduled = false;
    }

    private synchronized @Nullable Runnable takeNext() {
        PendingRecord next = next();
        if (next == null) {
            return null;
        }
        next.state = State.RUNNING;
        return takeHandler(next);
    }

    private @Nullable PendingRecord next() {
        for (PendingRecord it : records) {
            if (it.state == State.CLAIMED) {
                return it.releasing ? null : it;
            }
            if (it.state != State.RETURNED) {
                return null;
            }
        }
        return null;
    }

    private static @Nullable Runnable takeHandler(PendingRecord pending) {
        Runnable handler = pending.handler;
        pending.handler = null;
        return handler;
    }

    /** The record's completion is stored, or its dead letter is kept. */
    void settle(PendingRecord pending) {
        synchronized (this) {
            if (first() == pending) {
                retriesOfFirst = 0;
            }
            records.remove(pending);
            settled.accept(pending.record.offset());
            claimsAhead = Math.min(claimsAhead + 1, MAX_CLAIMS_AHEAD);
        }
        schedule();
    }

    /** The record is not settled and has to be submitted again, not before the delay is over. */
    void retryLater(PendingRecord pending, Duration delay) {
        List<Runnable> released;
        synchronized (this) {
            released = requeue(pending, delay);
        }
        released.forEach(Runnable::run);
        schedule();
    }

    private List<Runnable> requeue(PendingRecord pending, Duration delay) {
        if (pending.releasing) {
            pending.releasing = false;
            pending.state = State.FETCHED;
            return List.of();
        }
        if (first() != pending) {
            if (pending.state.hasBegun()) {
                delay(pending, delay);
            } else {
                pending.state = State.REQUEUED;
            }
            return List.of();
        }
        retriesOfFirst++;
        if (delay.isZero() && retriesOfFirst < RETRIES_BEFORE_RELEASE) {
            pending.state = State.REQUEUED;
            claimsAhead = Math.max(claimsAhead / 2, 1);
            return releaseClaims();
        }
        delay(pending, delay);
        return retriesOfFirst < RETRIES_BEFORE_RELEASE ? List.of() : releaseClaims();
    }

    private void delay(PendingRecord pending, Duration delay) {
        pending.state = State.DELAYED;
        pending.notBefore = clock.getAsLong() + (delay.compareTo(MIN_DELAY) < 0 ? MIN_DELAY : delay).toNanos();
    }

    /** What has not begun releases its claim. The handlers returned here do so when run: they may not begin. */
    private List<Runnable> releaseClaims() {
        List<Runnable> handlers = new ArrayList<>();
        for (PendingRecord it : records) {
            if (it.state == State.SUBMITTED || it.state == State.CLAIMED) {
                it.releasing = true;
            }
            Runnable handler = takeHandler(it);
            if (handler != null) {
                handlers.add(handler);
            }
        }
        return handlers;
    }

    /** Nothing begins any more; what has not begun is released, handlers that run go on. */
    void close() {
        List<Runnable> released;
        synchronized (this) {
            closed = true;
            released = releaseClaims();
        }
        released.forEach(Runnable::run);
    }
}
