package dev.hapax.postgres;

import dev.hapax.store.StoreException;
import dev.hapax.store.StoreUnavailableException;
import java.nio.channels.ClosedByInterruptException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Groups what concurrent callers ask of the database into batches: one connection, one statement, one commit for all.
 *
 * <p><b>Natural batching.</b> There is no timer. A request that comes while a batch is under way queues, and goes with
 * the next one: the slower the commit, the larger the batches. A caller that waits for its answer anyway and finds the
 * batcher idle sends the batch itself, on its own thread, so a single caller is as fast as plain JDBC; other batches
 * are sent by workers. The batcher is free for the next batch before the callers are notified, so that batch need not
 * wait for what they do with their answers.
 *
 * <p><b>Callers' threads</b> only ever make the first attempt. If it fails because of the thread (it was interrupted,
 * or the data source bound a transaction to it) or because of one of several requests, a worker goes on with the batch,
 * and the other callers do not notice. Virtual threads send nothing: an interrupt closes the socket under them, and
 * waiters that pin their carriers could keep them from ever going on.
 *
 * <p><b>Neighbours.</b> A batch is sorted by operation id, so two batches cannot deadlock, and waits for locks only
 * briefly. If it fails because of one row (a lock held by another transaction, a value the database refuses), its
 * requests are done one by one over one connection, each caller is notified as soon as its request is done, and the
 * first sign that the database is away ends the pass for all. Requests that are locked are tried again by
 * {@link LockedRequests}; the batcher does not wait for them.
 *
 * <p>All requests are idempotent (see {@link dev.hapax.store.Store}), which is what makes a failed batch this simple:
 * nobody has to know how far it came.
 */
final class Batcher<Q, A> {
    private static final Logger log = LoggerFactory.getLogger(Batcher.class);
    private static final long MAX_BATCH_BYTES = 1 << 20;

    private final BatchWork<Q, A> work;
    private final BatcherSettings settings;
    private final IntConsumer load;
    private final Queue<PendingRequest<Q, A>> queue = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean busy = new AtomicBoolean();
    private final LockedRequests<Q, A> locked;

    Batcher(BatchWork<Q, A> work, BatcherSettings settings) {
        this(work, settings, batch -> {});
    }

    /** @param load is given, for every batch, the number of requests that were queued */
    Batcher(BatchWork<Q, A> work, BatcherSettings settings, IntConsumer load) {
        this.work = work;
        this.settings = settings;
        this.load = load;
        locked = new LockedRequests<>(settings.retryThread(), settings.maxBatchSize(), this::retry);
    }

    /** Never blocks: a worker sends the batch. */
    CompletableFuture<A> submit(Q request) {
        PendingRequest<Q, A> pending = PendingRequest.of(request);
        queue.add(pending);
        sendNext();
        return pending.answer();
    }

    /** Submits all before any of them begins. Never blocks. */
    List<CompletableFuture<A>> submitAll(Collection<Q> requests) {
        List<PendingRequest<Q, A>> batch =
                requests.stream().map(PendingRequest::<Q, A>of).toList();
        queue.addAll(batch);
        sendNext();
        return batch.stream().map(PendingRequest::answer).toList();
    }

    /** Waits for the answer, unless this thread is interrupted: then the answer comes later. */
    CompletableFuture<A> submitAndWait(Q request) {
        PendingRequest<Q, A> pending = PendingRequest.waited(request);
        queue.add(pending);
        if (PendingRequest.isVirtual(Thread.currentThread())) {
            sendNext();
        } else if (acquire()) {
            sendForCaller(pending);
        }
        pending.await();
        return pending.answer();
    }

    private boolean acquire() {
        return !queue.isEmpty() && busy.compareAndSet(false, true);
    }

    private void sendNext() {
        if (acquire()) {
            List<PendingRequest<Q, A>> batch = new ArrayList<>();
            settings.executeStatements(() -> send(batch), noThread -> refuse(batch, noThread));
        }
    }

    private void refuse(List<PendingRequest<Q, A>> batch, StoreUnavailableException why) {
        try {
            takeInto(batch);
            batch.forEach(pending -> pending.decide(new Decision.Refused<>(why)));
        } finally {
            releaseAndSettle(batch);
        }
    }

    private void takeInto(List<PendingRequest<Q, A>> batch) {
        long weight = 0;
        PendingRequest<Q, A> pending;
        while (batch.size() < settings.maxBatchSize() && weight < MAX_BATCH_BYTES && (pending = queue.poll()) != null) {
            batch.add(pending);
            weight += work.weight(pending.request());
        }
        load.accept(batch.size() + queue.size());
    }

    /** @param batch what a caller's thread could not finish; if empty, the next one */
    private void send(List<PendingRequest<Q, A>> batch) {
        try {
            if (batch.isEmpty()) {
                takeInto(batch);
            }
            attemptAndRecover(batch, LockWait.SHORT);
        } finally {
            releaseAndSettle(batch);
        }
    }

    /** Of the requests in the batch, only the caller's own has to do with the thread that sends it. */
    private void sendForCaller(PendingRequest<Q, A> own) {
        List<PendingRequest<Q, A>> batch = new ArrayList<>();
        boolean finished = false;
        boolean interrupted = Thread.interrupted(); // pools refuse connections to interrupted threads
        try {
            takeInto(batch);
            finished = attemptForCaller(batch, own);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            if (finished) {
                releaseAndSettle(batch);
            } else {
                settings.execute(() -> send(batch));
            }
        }
    }

    /** @return whether that was all; if not, a worker has to go on */
    private boolean attemptForCaller(List<PendingRequest<Q, A>> batch, PendingRequest<Q, A> own) {
        try {
            attempt(batch, LockWait.SHORT);
            return true;
        } catch (OpenTransactionException e) {
            if (work.isRefusedInOpenTransaction() && batch.contains(own)) { // or another thread has sent it already
                own.decide(new Decision.Refused<>(e));
            }
        } catch (SQLException | RuntimeException | Error e) {
            if (!isInterrupt(e) && (batch.size() == 1 || !isBecauseOfOneRow(e))) {
                recover(unsettled(batch), e);
                return true;
            }
        }
        return unsettled(batch).isEmpty();
    }

    private static boolean isInterrupt(Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof InterruptedException || cause instanceof ClosedByInterruptException) {
                Thread.currentThread().interrupt(); // not every pool does
            }
        }
        return Thread.currentThread().isInterrupted();
    }

    private void releaseAndSettle(List<PendingRequest<Q, A>> batch) {
        busy.set(false);
        try {
            sendNext();
        } finally {
            settle(batch);
        }
    }

    private void retry(List<PendingRequest<Q, A>> batch) {
        try {
            batch.forEach(PendingRequest::reopen);
            attemptAndRecover(batch, LockWait.NONE);
        } finally {
            settings.execute(() -> settle(batch)); // the retry thread has others to serve
        }
    }

    private void attemptAndRecover(List<PendingRequest<Q, A>> batch, LockWait wait) {
        List<PendingRequest<Q, A>> unsettled = unsettled(batch);
        try {
            attempt(unsettled, wait);
        } catch (SQLException | RuntimeException | Error e) {
            recover(unsettled(unsettled), e);
        }
    }

    private void attempt(List<PendingRequest<Q, A>> batch, LockWait wait) throws SQLException {
        if (batch.isEmpty()) {
            return; // another thread has sent what was queued
        }
        List<PendingRequest<Q, A>> sorted = sorted(batch);
        try (Session session = settings.sessions().open()) {
            attempt(session, wait, sorted);
        }
    }

    private void attempt(Session session, LockWait wait, List<PendingRequest<Q, A>> sorted) throws SQLException {
        List<Decision<A>> decisions = work.run(session, wait, requests(sorted));
        for (int i = 0; i < decisions.size(); i++) {
            sorted.get(i).decide(decisions.get(i));
        }
    }

    /** So that two batches cannot deadlock. The callers are notified in the order in which they came. */
    private List<PendingRequest<Q, A>> sorted(List<PendingRequest<Q, A>> batch) {
        return batch.size() == 1
                ? batch
                : batch.stream()
                        .sorted(Comparator.comparing(pending -> work.id(pending.request())))
                        .toList();
    }

    private static <Q> List<Q> requests(List<? extends PendingRequest<Q, ?>> batch) {
        return batch.size() == 1
                ? List.of(batch.get(0).request())
                : batch.stream().<Q>map(PendingRequest::request).toList();
    }

    private static <Q, A> List<PendingRequest<Q, A>> unsettled(List<PendingRequest<Q, A>> batch) {
        return batch.stream().filter(pending -> !pending.isSettled()).toList();
    }

    private void recover(List<PendingRequest<Q, A>> batch, Throwable e) {
        if (!(e instanceof SQLException || e instanceof StoreException)) {
            log.error("A batch of {} failed", batch.size(), e);
        }
        if (batch.size() > 1 && isBecauseOfOneRow(e)) {
            log.debug("A batch of {} failed, going on one by one: {}", batch.size(), e.toString());
            oneByOne(batch);
        } else {
            batch.forEach(pending -> pending.decide(Decision.on(e)));
        }
    }

    /** Whether the others of the batch may succeed without the one to blame. */
    private static boolean isBecauseOfOneRow(Throwable error) {
        return error instanceof SQLException e ? !SqlErrors.isUnavailable(e) : !(error instanceof StoreException);
    }

    private void oneByOne(List<PendingRequest<Q, A>> batch) {
        try (Session session = settings.sessions().open()) {
            for (PendingRequest<Q, A> pending : batch) {
                attemptOne(session, pending);
            }
        } catch (SQLException | RuntimeException | Error away) {
            batch.stream()
                    .filter(pending -> pending.decision() == null)
                    .forEach(pending -> pending.decide(Decision.on(away)));
        }
    }

    /** @throws SQLException when there is no use in going on with this session */
    private void attemptOne(Session session, PendingRequest<Q, A> pending) throws SQLException {
        try {
            attempt(session, LockWait.NONE, List.of(pending));
        } catch (SQLException e) {
            if (SqlErrors.isUnavailable(e)) {
                throw e;
            }
            pending.decide(Decision.on(e));
        } catch (RuntimeException | Error e) {
            pending.decide(Decision.on(e));
        }
        if (pending.isSettled()) {
            // On another thread: the caller's continuation must not run while this connection is held.
            settings.execute(pending::notifyCaller);
        }
    }

    /**
     * Notifies the callers, except those whose requests are to be tried again. What fails for one concerns no other.
     */
    private void settle(List<PendingRequest<Q, A>> batch) {
        List<PendingRequest<Q, A>> settled = new ArrayList<>(batch.size());
        for (PendingRequest<Q, A> pending : batch) {
            try {
                if (!isRetriedLater(pending)) {
                    settled.add(pending);
                }
            } catch (RuntimeException | Error e) {
                pending.breakOff(e);
            }
        }
        PendingRequest.notifyAll(settled);
    }

    private boolean isRetriedLater(PendingRequest<Q, A> pending) {
        if (!(pending.decision() instanceof Decision.Locked<A> it)) {
            return false;
        }
        Duration timeout = work.lockWaitTimeout(pending.request());
        Duration remaining = timeout.minus(pending.age());
        if (remaining.isNegative() || remaining.isZero()) {
            if (!timeout.isZero()) {
                log.warn(
                        "Operation {} has been locked by another transaction for {}",
                        work.id(pending.request()),
                        pending.age());
            }
            pending.decide(new Decision.Refused<>(SqlErrors.translate(it.cause())));
            return false;
        }
        try {
            locked.add(pending, remaining);
            return true;
        } catch (RuntimeException | Error noThread) {
            pending.decide(new Decision.Refused<>(
                    new StoreUnavailableException("Cannot try again later: " + noThread, noThread)));
            return false;
        }
    }
}
