package dev.hapax.postgres.outbox;

import dev.hapax.outbox.Outgoing;
import dev.hapax.outbox.PublishResult;
import dev.hapax.outbox.Publisher;
import dev.hapax.store.StoreException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a relay does, on one thread: claim, publish, take the answers, finish, and again. Publishers answer from threads
 * of their own; their answers queue up here, and those that came while a statement was under way are finished together.
 *
 * <p>A run's next message goes out when the one before it was published, and only if the lease outlasts it even if the
 * publisher takes all the time it may, with time left to tell the database. So leases are never renewed, and a lease
 * that runs out means that this process was stopped or the database was away.
 *
 * <p>When the database cannot be reached nothing is forgotten: what was published is finished later, the pauses grow,
 * and meanwhile no more is claimed than was claimed already.
 */
final class RelayLoop implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(RelayLoop.class);
    private static final Backoff TROUBLE = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(5));
    private static final String LOCK_NOT_AVAILABLE = "55P03";
    private static final int FEW_LOCKS = 32;
    private static final int WIDEST = 256;

    private final OutboxTable table;
    private final Database database;
    private final Publisher publisher;
    private final RelaySettings settings;
    private final Told told;

    private final Queue<Answer> answers = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean hint = new AtomicBoolean(true);
    private volatile boolean closing;
    private volatile @Nullable Thread thread;

    private final List<Run> ready = new ArrayList<>();
    private final List<Run> ended = new ArrayList<>();
    private final List<Run> held = new ArrayList<>(); // ended, but a foreign transaction has locked the first row
    private final Queue<UnderWay> underWay = new ArrayDeque<>();
    private int inFlight;
    private boolean more;
    private int width = 1;
    private int locksMet;
    private int troubles;
    private long quietUntil = System.nanoTime();
    private long heldUntil = System.nanoTime();
    private long pollAt = System.nanoTime();
    private long lagAt = System.nanoTime();

    private record Answer(Run run, Run.Entry entry, PublishResult result) {}

    private record UnderWay(Run run, Run.Entry entry, long since) {}

    RelayLoop(OutboxTable table, Database database, Publisher publisher, RelaySettings settings, Told told) {
        this.table = table;
        this.database = database;
        this.publisher = publisher;
        this.settings = settings;
        this.told = told;
    }

    /** There may be something to claim. Safe from any thread. */
    void wake() {
        hint.set(true);
        LockSupport.unpark(thread);
    }

    /** Claims no more, waits for what is under way, and ends. Safe from any thread. */
    void close() {
        closing = true;
        LockSupport.unpark(thread);
    }

    @Override
    public void run() {
        thread = Thread.currentThread();
        while (!closing) {
            guardedTurn();
        }
        long closingSince = System.nanoTime();
        while (inFlight > 0
                && System.nanoTime() - closingSince < settings.lease().toNanos()) {
            guardedTurn();
        }
    }

    private void guardedTurn() {
        try {
            if (Thread.interrupted()) {
                log.debug("The publisher left an interrupt behind, which is nobody's to hear");
            }
            turn();
        } catch (StoreException e) {
            trouble(e);
        } catch (RuntimeException | Error e) {
            log.error("The relay failed and goes on", e);
            backOff();
        }
        pause();
    }

    private void turn() {
        takeAnswers();
        giveUpOnTheLate();
        publish();
        if (System.nanoTime() - quietUntil < 0) {
            return;
        }
        if (!held.isEmpty() && System.nanoTime() - heldUntil >= 0) {
            ended.addAll(held);
            held.clear();
        }
        if (!ended.isEmpty()) {
            locksMet = 0;
            finish(List.copyOf(ended));
        }
        if (mayClaim() && (more || hint.get() || System.nanoTime() - pollAt >= 0)) {
            claim();
        }
        if (told.wantsLag() && System.nanoTime() - lagAt >= 0) {
            lagAt = System.nanoTime() + jittered(settings.lagEvery());
            told.lag(OutboxInspector.lag(database));
        }
        troubles = 0;
    }

    private boolean hasRoom() {
        return inFlight == 0 || settings.maxInFlight() - inFlight >= (settings.batch() + 1) / 2;
    }

    private void claim() {
        hint.set(false);
        int most = Math.min(settings.batch(), settings.maxInFlight() - inFlight);
        int reach = width * most;
        OutboxTable.Claimed claimed = table.claim(settings.lease(), reach, most);
        pollAt = System.nanoTime() + jittered(settings.pollEvery());
        boolean full = claimed.found() >= reach;
        more = full && claimed.progressed();
        // Nothing but rows of lanes that somebody holds: the others are behind them.
        width = full && !more ? Math.min(2 * width, WIDEST) : Math.max(1, width / 2);
        take(claimed.runs());
        publish();
    }

    private void take(List<Run> runs) {
        if (!runs.isEmpty() && !lastsForOneMore(runs.get(0))) {
            log.warn("A claim took so long that its leases are left to run out: is the pool or the database too busy?");
            return;
        }
        for (Run run : runs) {
            inFlight += run.size();
            int attempt = run.current().outgoing().attempt();
            if (run.takenOver() && attempt > settings.maxAttempts()) {
                run.stop(
                        new Run.Setback("leased " + (attempt - 1) + " times, and the relay went away each time", null));
                ended.add(run);
            } else {
                ready.add(run);
            }
        }
    }

    private void publish() {
        if (ready.isEmpty()) {
            return;
        }
        long now = System.nanoTime();
        List<UnderWay> begun =
                ready.stream().map(run -> new UnderWay(run, run.current(), now)).toList();
        ready.clear();
        underWay.addAll(begun);
        List<CompletionStage<PublishResult>> stages = hand(begun);
        for (int i = 0; i < begun.size(); i++) {
            UnderWay it = begun.get(i);
            stages.get(i).whenComplete((result, error) -> {
                answers.add(new Answer(
                        it.run(), it.entry(), error == null ? result : PublishResult.failed(unwrapped(error))));
                LockSupport.unpark(thread);
            });
        }
    }

    private List<CompletionStage<PublishResult>> hand(List<UnderWay> begun) {
        List<Outgoing> messages =
                begun.stream().map(it -> it.entry().outgoing()).toList();
        try {
            List<CompletionStage<PublishResult>> stages = publisher.publish(messages);
            if (stages.size() == messages.size()) {
                return stages;
            }
            throw new IllegalStateException(
                    "the publisher gave %d answers for %d messages".formatted(stages.size(), messages.size()));
        } catch (RuntimeException e) {
            log.warn("The publisher threw instead of answering: {}", e.toString());
            return Collections.nCopies(messages.size(), CompletableFuture.completedStage(PublishResult.failed(e)));
        }
    }

    private static Throwable unwrapped(Throwable error) {
        Throwable cause = error.getCause();
        return error instanceof CompletionException && cause != null ? cause : error;
    }

    private void takeAnswers() {
        Answer answer;
        while ((answer = answers.poll()) != null) {
            take(answer);
        }
    }

    /** An answer counts only while its message is the one under way: not the second time, and not when given up. */
    private void take(Answer answer) {
        Run run = answer.run();
        if (!run.awaits(answer.entry())) {
            return;
        }
        Outgoing message = answer.entry().outgoing();
        Run.Setback setback = answer.result()
                .fold(
                        published -> null,
                        failed -> setback(message, failed),
                        refused -> new Run.Setback(refused.reason(), null));
        if (setback != null) {
            run.stop(setback);
            ended.add(run);
            return;
        }
        run.advance();
        boolean goOn = run.hasNext() && !closing && lastsForOneMore(run);
        (goOn ? ready : ended).add(run);
    }

    /** Whether another message can be published, and its run finished, before somebody else may take the lane. */
    private boolean lastsForOneMore(Run run) {
        return run.lease().lastsFor(settings.forOneMore(), System.nanoTime());
    }

    private Run.Setback setback(Outgoing message, PublishResult.Failed failed) {
        if (message.attempt() >= settings.maxAttempts()) {
            return new Run.Setback(failed.reason(), null);
        }
        return new Run.Setback(failed.reason(), settings.backoff().after(message.attempt(), failed.retryAfter()));
    }

    /** All have the same time, so those that began first are late first. */
    private void giveUpOnTheLate() {
        UnderWay first;
        while ((first = underWay.peek()) != null) {
            if (first.run().awaits(first.entry())) {
                if (System.nanoTime() - first.since()
                        < settings.publishTimeout().toNanos()) {
                    return;
                }
                String reason = "no answer within " + settings.publishTimeout();
                take(new Answer(first.run(), first.entry(), PublishResult.failed(reason)));
            }
            underWay.remove();
        }
    }

    private void finish(List<Run> runs) {
        OutboxTable.Finished finished;
        try {
            finished = table.finish(runs);
        } catch (StoreException e) {
            notFinished(runs, e);
            return;
        }
        forget(runs);
        more |= finished.advanced() > 0;
        told.finished(runs, finished.mine());
        for (Run run : runs) {
            Run.Setback setback = run.setback();
            Duration retryIn = setback == null ? null : setback.retryIn();
            if (retryIn != null && retryIn.toNanos() < pollAt - System.nanoTime()) {
                pollAt = System.nanoTime() + retryIn.toNanos();
            }
        }
    }

    /** One row that somebody holds, or that cannot be written, is not to keep the others from being finished. */
    private void notFinished(List<Run> runs, StoreException e) {
        boolean locked = isLocked(e);
        if (locked && ++locksMet > FEW_LOCKS) {
            throw e; // it is the table that somebody holds
        }
        if (runs.size() > 1 && (locked || !e.retryable())) {
            finishInHalves(runs);
            return;
        }
        if (locked && !runs.get(0).lease().isOver(System.nanoTime())) {
            ended.removeAll(runs);
            held.addAll(runs);
            heldUntil = System.nanoTime() + jittered(settings.pollEvery());
            return;
        }
        if (locked || !e.retryable()) {
            forget(runs); // their leases run out, and they are published again
        }
        throw e;
    }

    private void finishInHalves(List<Run> runs) {
        int half = runs.size() / 2;
        try {
            finish(runs.subList(0, half));
        } finally {
            finish(runs.subList(half, runs.size()));
        }
    }

    private void forget(List<Run> runs) {
        ended.removeAll(new HashSet<>(runs));
        inFlight -= runs.stream().mapToInt(Run::size).sum();
    }

    private static boolean isLocked(StoreException e) {
        return e.getCause() instanceof SQLException cause && LOCK_NOT_AVAILABLE.equals(cause.getSQLState());
    }

    private void trouble(StoreException e) {
        backOff();
        hint.set(true); // whoever gave one has not been served
        if (troubles == 1 || !e.retryable()) {
            log.warn("The relay cannot go on and tries again: {}", e.getMessage());
        }
        told.unavailable(e);
    }

    private void backOff() {
        troubles++;
        quietUntil = System.nanoTime() + TROUBLE.after(troubles, null).toNanos();
    }

    private boolean hasWork(boolean quiet) {
        if (!answers.isEmpty() || !ready.isEmpty()) {
            return true;
        }
        return !quiet && (!ended.isEmpty() || (mayClaim() && (more || hint.get())));
    }

    private boolean mayClaim() {
        return !closing && hasRoom();
    }

    private void pause() {
        long now = System.nanoTime();
        boolean quiet = now - quietUntil < 0;
        if (hasWork(quiet) || (closing && inFlight == 0)) {
            return;
        }
        long nanos = settings.lease().toNanos();
        if (quiet) {
            nanos = Math.min(nanos, quietUntil - now);
        } else if (mayClaim()) {
            nanos = Math.min(nanos, pollAt - now);
        }
        if (!quiet && told.wantsLag()) {
            nanos = Math.min(nanos, lagAt - now);
        }
        if (!quiet && !held.isEmpty()) {
            nanos = Math.min(nanos, heldUntil - now);
        }
        UnderWay first = underWay.peek();
        if (first != null) {
            nanos = Math.min(nanos, first.since() + settings.publishTimeout().toNanos() - now);
        }
        LockSupport.parkNanos(this, Math.max(1, nanos));
    }

    private static long jittered(Duration pause) {
        return (long) (pause.toNanos() * ThreadLocalRandom.current().nextDouble(0.8, 1.2));
    }
}
