package dev.hapax.postgres;

import dev.hapax.store.OperationId;
import dev.hapax.store.StoreUnavailableException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Groups what concurrent callers ask of the database into rounds: one connection, one batch, one commit for all.
 *
 * <p><b>Natural batching.</b> There is no timer. A caller that finds the lane idle does a round itself, on its own
 * thread, so a single caller is as fast as plain JDBC. Whoever comes meanwhile queues, and goes with the next round:
 * the slower the commit, the larger the rounds. If something is queued when the caller's own round is over, a worker
 * takes the lane over until it is empty, so no caller serves others for long.
 *
 * <p><b>Neighbours.</b> A round is sorted by operation id, so two rounds cannot deadlock, and waits for locks only
 * briefly. If it fails for one row's sake (a lock held by somebody's transaction, a value the database refuses), its
 * jobs are done one by one: only the one to blame is affected. One that is locked is tried again by itself, with
 * growing pauses, until its lock is free or its patience ends; the lane does not wait for it.
 *
 * <p>All jobs may be sent again (see {@link dev.hapax.store.Store}), which is what makes a failed round this simple:
 * nobody has to know how far it came.
 */
final class Lane<Q, A> {
    private static final Logger log = LoggerFactory.getLogger(Lane.class);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(500);

    private final Work<Q, A> work;
    private final LaneSettings settings;
    private final Queue<Job<Q, A>> queue = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean busy = new AtomicBoolean();

    /** How long a round waits for a row that somebody else has locked. */
    enum LockWait {
        /** As long as the settings say. */
        SHORT,
        /** Not at all: the round before has waited. */
        NONE
    }

    /** What a lane does for its jobs. */
    interface Work<Q, A> {
        OperationId id(Q request);

        /**
         * Does all of them, sorted by id, in as few round trips as it takes.
         *
         * @return the answers, in the same order
         * @throws SQLException when any of them could not be done; then none counts as done
         */
        List<A> run(Session session, LockWait wait, List<Q> requests) throws SQLException;
    }

    private record Job<Q, A>(Q request, CompletableFuture<A> answer, long submittedAt) {
        Job(Q request) {
            this(request, new CompletableFuture<>(), System.nanoTime());
        }
    }

    Lane(Work<Q, A> work, LaneSettings settings) {
        this.work = work;
        this.settings = settings;
    }

    CompletableFuture<A> submit(Q request) {
        Job<Q, A> job = new Job<>(request);
        queue.add(job);
        runIfIdle();
        return job.answer();
    }

    /** Submits all before any of them begins. */
    List<CompletableFuture<A>> submitAll(Iterable<Q> requests) {
        List<CompletableFuture<A>> answers = new ArrayList<>();
        for (Q request : requests) {
            Job<Q, A> job = new Job<>(request);
            queue.add(job);
            answers.add(job.answer());
        }
        runIfIdle();
        return answers;
    }

    private void runIfIdle() {
        if (!queue.isEmpty() && busy.compareAndSet(false, true)) {
            round(take());
            if (queue.isEmpty()) {
                leave();
            } else {
                settings.execute(this::drain);
            }
        }
    }

    private void drain() {
        while (!queue.isEmpty()) {
            round(take());
        }
        leave();
    }

    /** Who came between the last look at the queue and the end of {@code busy} must not be left behind. */
    private void leave() {
        busy.set(false);
        if (!queue.isEmpty() && busy.compareAndSet(false, true)) {
            settings.execute(this::drain);
        }
    }

    private List<Job<Q, A>> take() {
        List<Job<Q, A>> jobs = new ArrayList<>();
        Job<Q, A> job;
        while (jobs.size() < settings.largestRound() && (job = queue.poll()) != null) {
            jobs.add(job);
        }
        if (jobs.size() > 1) {
            jobs.sort(Comparator.comparing(it -> work.id(it.request())));
        }
        return jobs;
    }

    /**
     * An interrupted caller must not fail the others of its round: pools refuse a connection to interrupted threads.
     */
    private void round(List<Job<Q, A>> jobs) {
        boolean interrupted = Thread.interrupted();
        try {
            run(jobs, LockWait.SHORT);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void run(List<Job<Q, A>> jobs, LockWait wait) {
        List<A> answers;
        try (Session session = settings.sessions().open()) {
            answers = work.run(session, wait, requests(jobs));
        } catch (SQLException e) {
            recover(jobs, e);
            return;
        } catch (RuntimeException | Error e) {
            log.error("A round of {} failed", jobs.size(), e);
            recover(jobs, e);
            return;
        }
        for (int i = 0; i < answers.size(); i++) {
            jobs.get(i).answer().complete(answers.get(i));
        }
    }

    private static <Q> List<Q> requests(List<? extends Job<Q, ?>> jobs) {
        return jobs.size() == 1
                ? List.of(jobs.get(0).request())
                : jobs.stream().<Q>map(Job::request).toList();
    }

    private void recover(List<Job<Q, A>> jobs, SQLException e) {
        if (SqlErrors.isUnavailable(e)) {
            jobs.forEach(job -> job.answer().completeExceptionally(SqlErrors.translate(e)));
        } else if (jobs.size() > 1) {
            log.debug("A round of {} failed, going on one by one: {}", jobs.size(), e.toString());
            jobs.forEach(this::runAlone);
        } else if (SqlErrors.isContention(e)) {
            tryAgainLater(jobs.get(0), e);
        } else {
            jobs.get(0).answer().completeExceptionally(SqlErrors.translate(e));
        }
    }

    /** Nobody knows how far it came, so it may be sent again. */
    private void recover(List<Job<Q, A>> jobs, Throwable e) {
        if (jobs.size() > 1) {
            jobs.forEach(this::runAlone);
        } else {
            jobs.get(0).answer().completeExceptionally(new StoreUnavailableException("a round failed: " + e, e));
        }
    }

    private void runAlone(Job<Q, A> job) {
        run(List.of(job), LockWait.NONE);
    }

    private void tryAgainLater(Job<Q, A> job, SQLException e) {
        Duration age = Duration.ofNanos(System.nanoTime() - job.submittedAt());
        if (age.compareTo(settings.patience()) > 0) {
            log.warn("Operation {} has been locked by another transaction for {}", work.id(job.request()), age);
            job.answer().completeExceptionally(SqlErrors.translate(e));
            return;
        }
        Duration pause = age.dividedBy(4);
        pause = pause.compareTo(FIRST_PAUSE) < 0 ? FIRST_PAUSE : pause;
        pause = pause.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : pause;
        settings.later(pause, () -> runAlone(job));
    }
}
