package dev.hapax.postgres.outbox;

import dev.hapax.outbox.Outgoing;
import dev.hapax.outbox.PublishResult;
import dev.hapax.outbox.Publisher;
import dev.hapax.store.StoreException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The work of a relay, on one thread: claim, publish, read the publisher's answers, finish, and again. Answers that
 * arrive while a statement is running are finished together.
 *
 * <p>The next message of an ordering key is published after the one before it, and only if the lease lasts for the
 * whole publish timeout plus the time to record the result. So leases are never renewed, and an expired lease means
 * that this process was stopped or could not reach the database.
 *
 * <p>When the database cannot be reached nothing is forgotten: what was published is finished later, the pauses grow,
 * and nothing more is claimed meanwhile. A claim whose answer was lost may have taken leases all the same: its token is
 * known, and they are released as soon as the database can be reached.
 */
final class RelayLoop implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(RelayLoop.class);
    private static final Backoff RECONNECT = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(5));
    private static final String LOCK_NOT_AVAILABLE = "55P03";
    private static final int MAX_REACH = 100_000;

    private final OutboxTable table;
    private final InFlightMessages inFlight;
    private final RelaySettings settings;
    private final RelayEvents events;

    private final AtomicBoolean woken = new AtomicBoolean(true);
    private volatile boolean closing;
    private volatile @Nullable Thread thread;

    private final List<LeasedMessages> ready = new ArrayList<>();
    private final List<LeasedMessages> toFinish = new ArrayList<>();
    private final List<LeasedMessages> locked = new ArrayList<>(); // to finish once another transaction has ended
    private final List<LeasedMessages.Lease> orphanedClaims = new ArrayList<>();
    private int leasedMessages;
    private boolean moreDue;
    private int behindLocked; // due rows that the last claim could not use
    private int maxClaim; // smaller than the batch after a claim that could not be read
    private int failures;
    private long pauseUntil = System.nanoTime();
    private long retryLockedAt = System.nanoTime();
    private long releaseAt = System.nanoTime();
    private long pollAt = System.nanoTime();

    RelayLoop(OutboxTable table, Publisher publisher, RelaySettings settings, RelayEvents events) {
        this.table = table;
        this.inFlight = new InFlightMessages(publisher, settings.publishTimeout(), this::unpark);
        this.settings = settings;
        this.events = events;
        this.maxClaim = settings.batch();
    }

    /** Looks for due messages now. Safe for use by many threads. */
    void wake() {
        woken.set(true);
        unpark();
    }

    /** Claims no more, waits for what is in flight, and ends. Safe for use by many threads. */
    void close() {
        closing = true;
        unpark();
    }

    private void unpark() {
        LockSupport.unpark(thread);
    }

    @Override
    public void run() {
        thread = Thread.currentThread();
        while (!closing) {
            guardedTurn();
        }
        long closingSince = System.nanoTime();
        while (leasedMessages > 0
                && System.nanoTime() - closingSince < settings.lease().toNanos()) {
            guardedTurn();
        }
        try {
            releaseOrphanedClaims();
        } catch (StoreException e) {
            log.debug("Leases of a lost claim are left to expire: {}", e.getMessage());
        }
    }

    private void guardedTurn() {
        try {
            if (Thread.interrupted()) {
                log.debug("Cleared an interrupt that the publisher left behind");
            }
            turn();
        } catch (StoreException e) {
            storeFailed(e);
        } catch (RuntimeException | Error e) {
            log.error("The relay failed and continues", e);
            backOff();
        }
        pause();
    }

    private void turn() {
        readAnswers();
        publish();
        if (System.nanoTime() - pauseUntil < 0) {
            return;
        }
        if (!locked.isEmpty() && System.nanoTime() - retryLockedAt >= 0) {
            toFinish.addAll(locked);
            locked.clear();
        }
        if (!toFinish.isEmpty()) {
            finish(List.copyOf(toFinish));
        }
        if (System.nanoTime() - releaseAt >= 0) {
            releaseOrphanedClaims();
        }
        if (mayClaim() && (moreDue || woken.get() || System.nanoTime() - pollAt >= 0)) {
            claim();
        }
        failures = 0;
    }

    private boolean mayClaim() {
        boolean hasRoom = leasedMessages == 0 || maxInFlight() - leasedMessages >= (maxClaim + 1) / 2;
        return !closing && hasRoom;
    }

    /** Two batches: the next one can be claimed while the last one is in flight. */
    private int maxInFlight() {
        return 2 * maxClaim;
    }

    private void claim() {
        woken.set(false);
        int most = Math.min(maxClaim, maxInFlight() - leasedMessages);
        int reach = reach(most);
        OutboxTable.Claimed claimed = claim(reach, most);
        pollAt = System.nanoTime() + jittered(settings.pollEvery());
        behindLocked = claimed.behindLocked();
        boolean full = claimed.found() >= reach;
        moreDue = claimed.progressed()
                ? full || claimed.leased().size() >= most
                : full && reach(most) > reach; // the next claim looks further
        if (claimed.leased().isEmpty() || lastsForOneMore(claimed.lease())) {
            orphanedClaims.remove(claimed.lease());
            claimed.leased().forEach(this::take);
            publish();
        } else {
            log.warn("A claim took so long that its leases are released unused: is the database too busy?");
        }
    }

    /**
     * As far as the last claim got, and further: rows behind ones that other transactions have locked are in the way.
     */
    private int reach(int most) {
        return Math.min(most + 2 * behindLocked, MAX_REACH);
    }

    /**
     * A claim whose answer cannot be read, such as one with bodies that do not fit into memory, would be the same the
     * next time: it asks for half as many messages then, and for a few more with every claim that succeeds.
     */
    private OutboxTable.Claimed claim(int reach, int most) {
        int orphansBefore = orphanedClaims.size();
        boolean answered = false;
        try {
            OutboxTable.Claimed claimed = table.claim(reach, most, orphanedClaims::add);
            answered = true;
            maxClaim = Math.min(settings.batch(), maxClaim + 1 + maxClaim / 8);
            return claimed;
        } finally {
            if (!answered && orphanedClaims.size() > orphansBefore) {
                maxClaim = Math.max(1, most / 2);
            }
        }
    }

    /**
     * A claim whose answer is lost may still be running, and its rows may be locked, so a token is tried with every
     * poll until its lease would be over.
     */
    private void releaseOrphanedClaims() {
        if (orphanedClaims.isEmpty()) {
            return;
        }
        releaseAt = System.nanoTime() + jittered(settings.pollEvery());
        int released = table.release(
                orphanedClaims.stream().map(LeasedMessages.Lease::token).toList());
        long now = System.nanoTime();
        orphanedClaims.removeIf(lease -> lease.isOver(now));
        moreDue |= released > 0;
    }

    private void take(LeasedMessages messages) {
        leasedMessages += messages.size();
        int attempt = messages.current().outgoing().attempt();
        if (messages.failure() != null) {
            toFinish.add(messages);
        } else if (messages.takenOver() && attempt > settings.maxAttempts()) {
            String reason = "leased " + (attempt - 1) + " times, and the relay went away each time";
            messages.fail(new PublishFailure(reason, null));
            toFinish.add(messages);
        } else {
            ready.add(messages);
        }
    }

    private void publish() {
        if (!ready.isEmpty()) {
            List<LeasedMessages> next = List.copyOf(ready);
            ready.clear();
            inFlight.publish(next);
        }
    }

    private void readAnswers() {
        InFlightMessages.Answer answer;
        while ((answer = inFlight.poll()) != null) {
            read(answer);
        }
    }

    private void read(InFlightMessages.Answer answer) {
        LeasedMessages messages = answer.messages();
        PublishFailure failure = failure(answer.entry().outgoing(), answer.result());
        if (failure != null) {
            messages.fail(failure);
            toFinish.add(messages);
            return;
        }
        messages.advance();
        boolean continues = messages.hasNext() && !closing && lastsForOneMore(messages.lease());
        (continues ? ready : toFinish).add(messages);
    }

    /** Whether another message can be published and recorded before another relay may claim its ordering key. */
    private boolean lastsForOneMore(LeasedMessages.Lease lease) {
        return lease.lastsFor(settings.forOneMore(), System.nanoTime());
    }

    private @Nullable PublishFailure failure(Outgoing message, PublishResult result) {
        if (result instanceof PublishResult.Refused refused) {
            return new PublishFailure(refused.reason(), null);
        }
        if (result instanceof PublishResult.Failed failed) {
            boolean isLast = message.attempt() >= settings.maxAttempts();
            return new PublishFailure(
                    failed.reason(), isLast ? null : settings.backoff().after(message.attempt(), failed.retryAfter()));
        }
        return null;
    }

    private void finish(List<LeasedMessages> all) {
        OutboxTable.Finished finished;
        try {
            finished = table.finish(all);
        } catch (StoreException e) {
            notFinished(all, e);
            return;
        }
        forget(all);
        moreDue |= finished.advanced() > 0;
        events.finished(all, recorded(all, finished));
        for (LeasedMessages messages : all) {
            PublishFailure failure = messages.failure();
            Duration retryIn = failure == null ? null : failure.retryIn();
            if (retryIn != null && retryIn.toNanos() < pollAt - System.nanoTime()) {
                pollAt = System.nanoTime() + retryIn.toNanos();
            }
        }
    }

    /** Those whose result is in the database, by this statement or by an earlier one whose answer was lost. */
    private static Set<LeasedMessages> recorded(List<LeasedMessages> all, OutboxTable.Finished finished) {
        Set<LeasedMessages> recorded = new HashSet<>(finished.stillLeased());
        long now = System.nanoTime();
        all.stream().filter(it -> it.finishedBefore(now)).forEach(recorded::add);
        return recorded;
    }

    /** One row that is locked, or that cannot be written, must not keep the others from being finished. */
    private void notFinished(List<LeasedMessages> all, StoreException e) {
        if (isLocked(e)) {
            finishUnlocked(all, e);
        } else if (!e.retryable() && all.size() > 1) {
            finishInHalves(all);
        } else if (!e.retryable()) {
            forget(all); // their leases expire, and they are published again
            throw e;
        } else {
            all.forEach(LeasedMessages::finishUnanswered);
            throw e;
        }
    }

    private void finishUnlocked(List<LeasedMessages> all, StoreException e) {
        Set<LeasedMessages> lockedNow = table.findLocked(all);
        if (lockedNow.isEmpty()) {
            throw e; // the whole table is locked, or the lock has just ended
        }
        postpone(lockedNow);
        List<LeasedMessages> others =
                all.stream().filter(it -> !lockedNow.contains(it)).toList();
        if (!others.isEmpty()) {
            finish(others);
        }
    }

    /** Until the other transaction has ended, or the lease: then they are published again. */
    private void postpone(Set<LeasedMessages> lockedNow) {
        long now = System.nanoTime();
        List<LeasedMessages> expired =
                lockedNow.stream().filter(it -> it.lease().isOver(now)).toList();
        forget(expired);
        events.finished(expired, Set.of());
        toFinish.removeAll(lockedNow);
        lockedNow.stream().filter(it -> !it.lease().isOver(now)).forEach(locked::add);
        retryLockedAt = now + jittered(settings.pollEvery());
    }

    private void finishInHalves(List<LeasedMessages> all) {
        int half = all.size() / 2;
        try {
            finish(all.subList(0, half));
        } finally {
            finish(all.subList(half, all.size()));
        }
    }

    private void forget(List<LeasedMessages> all) {
        toFinish.removeAll(new HashSet<>(all));
        leasedMessages -= all.stream().mapToInt(LeasedMessages::size).sum();
    }

    private static boolean isLocked(StoreException e) {
        return e.getCause() instanceof SQLException cause && LOCK_NOT_AVAILABLE.equals(cause.getSQLState());
    }

    private void storeFailed(StoreException e) {
        backOff();
        if (failures == 1 || !e.retryable()) {
            log.warn("The relay cannot continue and tries again: {}", e.getMessage());
        }
        events.unavailable(e);
    }

    private void backOff() {
        failures++;
        woken.set(true); // the wake-up was not served
        pauseUntil = System.nanoTime() + RECONNECT.after(failures, null).toNanos();
    }

    private void pause() {
        long now = System.nanoTime();
        boolean backingOff = now - pauseUntil < 0;
        if (inFlight.hasAnswers() || !ready.isEmpty() || (closing && leasedMessages == 0)) {
            return;
        }
        long nanos = Math.min(settings.lease().toNanos(), inFlight.nanosToTimeout(now));
        nanos = Math.min(nanos, backingOff ? pauseUntil - now : nanosToStatement(now));
        if (nanos > 0) {
            LockSupport.parkNanos(this, nanos);
        }
    }

    /** How long until there is a reason to ask the database. */
    private long nanosToStatement(long now) {
        if (!toFinish.isEmpty() || (mayClaim() && (moreDue || woken.get()))) {
            return 0;
        }
        long nanos = mayClaim() ? pollAt - now : Long.MAX_VALUE;
        if (!locked.isEmpty()) {
            nanos = Math.min(nanos, retryLockedAt - now);
        }
        return orphanedClaims.isEmpty() ? nanos : Math.min(nanos, releaseAt - now);
    }

    static long jittered(Duration pause) {
        return (long) (pause.toNanos() * ThreadLocalRandom.current().nextDouble(0.8, 1.2));
    }
}
