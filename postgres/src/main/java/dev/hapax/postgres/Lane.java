package dev.hapax.postgres;

import dev.hapax.store.OperationId;
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
 * lane idle sends the batch itself, on its own thread, so a single caller is as fast as plain JDBC; other batches are
 * sent by workers. The lane is free for the next batch before the callers are notified, so that batch need not wait for
 * what they do with their answers.
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
 * {@link LockedRequests}; the lane does not wait for them.
 *
 * <p>All requests are idempotent (see {@link dev.hapax.store.Store}), which is what makes a failed batch this simple:
 * nobody has to know how far it came.
 */
final class Lane<Q, A> {
    private static final Logger log = LoggerFactory.getLogger(Lane.class);
    private static final long HEAVIEST_ROUND = 1 << 20;

    private final Work<Q, A> work;
    private final LaneSettings settings;
    private final IntConsumer demand;
    private final Queue<Job<Q, A>> queue = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean busy = new AtomicBoolean();
    private final LockedRequests<Q, A> locked;

    /** How long a batch waits for a row that another transaction has locked. */
    enum LockWait {
        /** As long as the settings say. */
        SHORT,
        /** Not at all: the batch before has waited. */
        NONE
    }

    /** What a lane does for its requests. */
    interface Work<Q, A> {
        OperationId id(Q request);

        /** How many bytes of its own a request brings along, about. */
        default int weight(Q request) {
            return 0;
        }

        /** How long a request may wait for a lock in all, from when it was submitted. */
        Duration lockWaitTimeout(Q request);

        /**
         * Does all of them, sorted by id, in as few round trips as it takes.
         *
         * @return what became of each, in the same order
         * @throws SQLException when any of them could not be done; then none counts as done
         */
        List<Decision<A>> run(Session session, LockWait wait, List<Q> requests) throws SQLException;
    }

    Lane(Work<Q, A> work, LaneSettings settings) {
        this(work, settings, jobs -> {});
    }

    /** @param demand is told at every batch how many requests there were, those that did not fit in among them */
    Lane(Work<Q, A> work, LaneSettings settings, IntConsumer demand) {
        this.work = work;
        this.settings = settings;
        this.demand = demand;
        locked = new LockedRequests<>(settings.retryThread(), settings.largestRound(), this::retry);
    }

    /** Never blocks: a worker sends the batch. */
    CompletableFuture<A> submit(Q request) {
        Job<Q, A> job = Job.of(request);
        queue.add(job);
        passOn();
        return job.answer();
    }

    /** Submits all before any of them begins. Never blocks. */
    List<CompletableFuture<A>> submitAll(Collection<Q> requests) {
        List<Job<Q, A>> jobs = requests.stream().map(Job::<Q, A>of).toList();
        queue.addAll(jobs);
        passOn();
        return jobs.stream().map(Job::answer).toList();
    }

    /** Waits for the answer, unless this thread is interrupted: then the answer comes later. */
    CompletableFuture<A> submitAndWait(Q request) {
        Job<Q, A> job = Job.waited(request);
        queue.add(job);
        if (Job.isVirtual(Thread.currentThread())) {
            passOn();
        } else if (begin()) {
            sendForCaller(job);
        }
        job.await();
        return job.answer();
    }

    private boolean begin() {
        return !queue.isEmpty() && busy.compareAndSet(false, true);
    }

    private void passOn() {
        if (begin()) {
            settings.execute(() -> send(new ArrayList<>()));
        }
    }

    private void takeInto(List<Job<Q, A>> batch) {
        long weight = 0;
        Job<Q, A> job;
        while (batch.size() < settings.largestRound() && weight < HEAVIEST_ROUND && (job = queue.poll()) != null) {
            batch.add(job);
            weight += work.weight(job.request());
        }
        demand.accept(batch.size() + queue.size());
    }

    /** @param batch what a caller's thread could not finish; if empty, the next one */
    private void send(List<Job<Q, A>> batch) {
        try {
            if (batch.isEmpty()) {
                takeInto(batch);
            }
            attemptAndRecover(batch, LockWait.SHORT);
        } finally {
            free();
            settle(batch);
        }
    }

    /** Of the requests in the batch, only the caller's own has to do with the thread that sends it. */
    private void sendForCaller(Job<Q, A> own) {
        List<Job<Q, A>> batch = new ArrayList<>();
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
                free();
                settle(batch);
            } else {
                settings.execute(() -> send(batch));
            }
        }
    }

    /** @return whether that was all; if not, a worker has to go on */
    private boolean attemptForCaller(List<Job<Q, A>> batch, Job<Q, A> own) {
        try {
            attempt(batch, LockWait.SHORT);
            return true;
        } catch (OpenTransactionException e) {
            own.decide(new Decision.Refused<>(e));
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

    private void free() {
        busy.set(false);
        passOn();
    }

    private void retry(List<Job<Q, A>> batch) {
        batch.forEach(Job::reopen);
        attemptAndRecover(batch, LockWait.NONE);
        settings.execute(() -> settle(batch)); // the retry thread has others to serve
    }

    private void attemptAndRecover(List<Job<Q, A>> batch, LockWait wait) {
        List<Job<Q, A>> unsettled = unsettled(batch);
        try {
            attempt(unsettled, wait);
        } catch (SQLException | RuntimeException | Error e) {
            recover(unsettled(unsettled), e);
        }
    }

    private void attempt(List<Job<Q, A>> batch, LockWait wait) throws SQLException {
        List<Job<Q, A>> sorted = sorted(batch);
        try (Session session = settings.sessions().open()) {
            attempt(session, wait, sorted);
        }
    }

    private void attempt(Session session, LockWait wait, List<Job<Q, A>> sorted) throws SQLException {
        List<Decision<A>> decisions = work.run(session, wait, requests(sorted));
        for (int i = 0; i < decisions.size(); i++) {
            sorted.get(i).decide(decisions.get(i));
        }
    }

    /** So that two batches cannot deadlock. The callers are notified in the order in which they came. */
    private List<Job<Q, A>> sorted(List<Job<Q, A>> jobs) {
        return jobs.size() == 1
                ? jobs
                : jobs.stream()
                        .sorted(Comparator.comparing(job -> work.id(job.request())))
                        .toList();
    }

    private static <Q> List<Q> requests(List<? extends Job<Q, ?>> jobs) {
        return jobs.size() == 1
                ? List.of(jobs.get(0).request())
                : jobs.stream().<Q>map(Job::request).toList();
    }

    private static <Q, A> List<Job<Q, A>> unsettled(List<Job<Q, A>> jobs) {
        return jobs.stream().filter(job -> !job.isSettled()).toList();
    }

    private void recover(List<Job<Q, A>> jobs, Throwable e) {
        if (!(e instanceof SQLException || e instanceof StoreException)) {
            log.error("A batch of {} failed", jobs.size(), e);
        }
        if (jobs.size() > 1 && isBecauseOfOneRow(e)) {
            log.debug("A batch of {} failed, going on one by one: {}", jobs.size(), e.toString());
            oneByOne(jobs);
        } else {
            jobs.forEach(job -> job.decide(Decision.on(e)));
        }
    }

    /** Whether the others of the batch may succeed without the one to blame. */
    private static boolean isBecauseOfOneRow(Throwable error) {
        return error instanceof SQLException e ? !SqlErrors.isUnavailable(e) : !(error instanceof StoreException);
    }

    private void oneByOne(List<Job<Q, A>> jobs) {
        try (Session session = settings.sessions().open()) {
            for (Job<Q, A> job : jobs) {
                alone(session, job);
            }
        } catch (SQLException | RuntimeException | Error away) {
            jobs.stream().filter(job -> job.decision() == null).forEach(job -> job.decide(Decision.on(away)));
        }
    }

    /** @throws SQLException when there is no use in going on with this session */
    private void alone(Session session, Job<Q, A> job) throws SQLException {
        try {
            attempt(session, LockWait.NONE, List.of(job));
        } catch (SQLException e) {
            if (SqlErrors.isUnavailable(e)) {
                throw e;
            }
            job.decide(Decision.on(e));
        } catch (RuntimeException | Error e) {
            job.decide(Decision.on(e));
        }
        if (job.isSettled()) {
            settings.execute(job::tell); // elsewhere: what follows it must not run while this connection is held
        }
    }

    /** Notifies the callers, except those whose requests are to be tried again. */
    private void settle(List<Job<Q, A>> batch) {
        Job.tellAll(batch.stream().filter(job -> !triedAgainLater(job)).toList());
    }

    private boolean triedAgainLater(Job<Q, A> job) {
        if (!(job.decision() instanceof Decision.Locked<A> it)) {
            return false;
        }
        Duration remaining = work.lockWaitTimeout(job.request()).minus(job.age());
        if (remaining.isNegative() || remaining.isZero()) {
            log.warn("Operation {} has been locked by another transaction for {}", work.id(job.request()), job.age());
            job.decide(new Decision.Refused<>(SqlErrors.translate(it.cause())));
            return false;
        }
        try {
            locked.add(job, remaining);
            return true;
        } catch (RuntimeException | Error noThread) {
            job.decide(new Decision.Refused<>(
                    new StoreUnavailableException("Cannot try again later: " + noThread, noThread)));
            return false;
        }
    }
}
