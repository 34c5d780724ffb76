package dev.hapax.postgres;

import dev.hapax.store.OperationId;
import dev.hapax.store.StoreException;
import dev.hapax.store.StoreUnavailableException;
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
 * Groups what concurrent callers ask of the database into rounds: one connection, one batch, one commit for all.
 *
 * <p><b>Natural batching.</b> There is no timer. Whoever comes while a round is under way queues, and goes with the
 * next one: the slower the commit, the larger the rounds. A caller that waits for its answer anyway and finds the lane
 * idle does a round itself, on its own thread, so a single caller is as fast as plain JDBC; other rounds are done by
 * workers. Who has done a round first passes the lane on and then tells the callers, so the next round need not wait
 * for what they do with their answers.
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
    private static final long HEAVIEST_ROUND = 1 << 20;

    private final Work<Q, A> work;
    private final LaneSettings settings;
    private final IntConsumer demand;
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

        /** How many bytes of its own a request brings along, about. */
        default int weight(Q request) {
            return 0;
        }

        /**
         * Does all of them, sorted by id, in as few round trips as it takes.
         *
         * @return the answers, in the same order
         * @throws SQLException when any of them could not be done; then none counts as done
         */
        List<A> run(Session session, LockWait wait, List<Q> requests) throws SQLException;
    }

    Lane(Work<Q, A> work, LaneSettings settings) {
        this(work, settings, jobs -> {});
    }

    /** @param demand is told at every round how many jobs there were, those that did not fit in among them */
    Lane(Work<Q, A> work, LaneSettings settings, IntConsumer demand) {
        this.work = work;
        this.settings = settings;
        this.demand = demand;
    }

    /** Never blocks: a worker does the round. */
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
        if (begin()) {
            serve();
        }
        job.await();
        return job.answer();
    }

    private boolean begin() {
        return !queue.isEmpty() && busy.compareAndSet(false, true);
    }

    private void serve() {
        List<Job<Q, A>> jobs = new ArrayList<>();
        Runnable telling = () -> refuse(jobs, new StoreUnavailableException("a round broke off", null))
                .run();
        try {
            takeInto(jobs);
            if (!jobs.isEmpty()) {
                telling = round(jobs);
            }
        } finally {
            busy.set(false);
            try {
                passOn();
            } finally {
                telling.run();
            }
        }
    }

    private void passOn() {
        if (begin()) {
            settings.execute(this::serve);
        }
    }

    private void takeInto(List<Job<Q, A>> jobs) {
        long weight = 0;
        Job<Q, A> job;
        while (jobs.size() < settings.largestRound() && weight < HEAVIEST_ROUND && (job = queue.poll()) != null) {
            jobs.add(job);
            weight += work.weight(job.request());
        }
        demand.accept(jobs.size() + queue.size());
    }

    /**
     * An interrupted caller must not fail the others of its round: pools refuse a connection to interrupted threads.
     *
     * @return what tells the callers
     */
    private Runnable round(List<Job<Q, A>> jobs) {
        boolean interrupted = Thread.interrupted();
        try {
            return run(jobs, LockWait.SHORT);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private Runnable run(List<Job<Q, A>> jobs, LockWait wait) {
        List<Job<Q, A>> sorted = sorted(jobs);
        try (Session session = settings.sessions().open()) {
            List<A> answers = work.run(session, wait, requests(sorted));
            for (int i = 0; i < answers.size(); i++) {
                sorted.get(i).decide(answers.get(i));
            }
        } catch (SQLException e) {
            return recover(jobs, e);
        } catch (RuntimeException | Error e) {
            log.error("A round of {} failed", jobs.size(), e);
            return recover(jobs, e);
        }
        return () -> Job.tellAll(jobs);
    }

    /** So that two rounds cannot deadlock. The callers are told in the order in which they came. */
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

    private Runnable recover(List<Job<Q, A>> jobs, SQLException e) {
        if (SqlErrors.isUnavailable(e)) {
            return refuse(jobs, SqlErrors.translate(e));
        } else if (jobs.size() > 1) {
            log.debug("A round of {} failed, going on one by one: {}", jobs.size(), e.toString());
            return oneByOne(jobs);
        } else if (SqlErrors.isContention(e)) {
            return tryAgainLater(jobs.get(0), e);
        }
        return refuse(jobs, SqlErrors.translate(e));
    }

    /** Nobody knows how far it came, so it may be sent again. */
    private Runnable recover(List<Job<Q, A>> jobs, Throwable e) {
        return jobs.size() > 1
                ? oneByOne(jobs)
                : refuse(jobs, new StoreUnavailableException("a round failed: " + e, e));
    }

    private Runnable oneByOne(List<Job<Q, A>> jobs) {
        List<Runnable> telling =
                jobs.stream().map(job -> run(List.of(job), LockWait.NONE)).toList();
        return () -> telling.forEach(Runnable::run);
    }

    private static <A> Runnable refuse(List<? extends Job<?, A>> jobs, StoreException why) {
        return () -> jobs.forEach(job -> job.answer().completeExceptionally(why));
    }

    private Runnable tryAgainLater(Job<Q, A> job, SQLException e) {
        Duration age = Duration.ofNanos(System.nanoTime() - job.submittedAt());
        if (age.compareTo(settings.patience()) > 0) {
            log.warn("Operation {} has been locked by another transaction for {}", work.id(job.request()), age);
            return refuse(List.of(job), SqlErrors.translate(e));
        }
        Duration pause = age.dividedBy(4);
        pause = pause.compareTo(FIRST_PAUSE) < 0 ? FIRST_PAUSE : pause;
        pause = pause.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : pause;
        try {
            settings.later(pause, () -> run(List.of(job), LockWait.NONE).run());
            return () -> {};
        } catch (RuntimeException | Error noThread) {
            return refuse(List.of(job), new StoreUnavailableException("cannot try again later: " + noThread, noThread));
        }
    }
}
