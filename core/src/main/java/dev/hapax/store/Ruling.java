package dev.hapax.store;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

/**
 * What a claim may do with an operation that is already there: the states of the design, in one place for every store.
 *
 * <p>A store reads the operation, asks {@link #on}, and either answers or carries the ruling out with one conditional
 * write that matches the token and state it saw. If that write finds nothing, another claim was faster: read again.
 */
public sealed interface Ruling {

    /**
     * What a claim is told that its claimer has given back meanwhile: it was sent again, or overtaken on its way, and
     * nobody would run what it wins.
     */
    Claim GIVEN_BACK = new Claim.Running(Duration.ZERO);

    /** Nothing to write: this is the answer. */
    record Answer(Claim claim) implements Ruling {}

    /**
     * The claim is the sender's own, sent again: its lease begins anew. An answer alone would not do, since the lease
     * may be over by now and another claimer about to take over.
     */
    record Resume() implements Ruling {}

    /** Claim the operation for its next attempt. */
    record TakeOver() implements Ruling {}

    /**
     * The operation is over: begin a new one in its place, with attempt 1, the next generation and the claimer's
     * fingerprint.
     */
    record BeginAnew() implements Ruling {}

    /** End the operation with this failure, under a new token. */
    record Fail(Result result) implements Ruling {}

    /** Park the operation as {@link State#IN_DOUBT}, under a new token. */
    record Park() implements Ruling {}

    /** What the claimer is told, once the ruling has been carried out on what was {@code found}. */
    default Claim answer(Snapshot found) {
        int generation = found.attempts().generation();
        if (this instanceof Answer it) {
            return it.claim();
        } else if (this instanceof Resume) {
            return new Claim.Won(found.attempt(), generation, null);
        } else if (this instanceof TakeOver) {
            return new Claim.Won(found.attempt() + 1, generation, found.expiredLease());
        } else if (this instanceof BeginAnew) {
            return new Claim.Won(1, generation + 1, null);
        } else if (this instanceof Fail it) {
            return new Claim.Replay(it.result(), keptFromNow(found), found.expiredLease());
        }
        return new Claim.InDoubt(found.expiredLease());
    }

    /** An answer for once: how long it holds is asked for with the next claim. */
    private static Claim.Kept keptFromNow(Snapshot found) {
        Instant now = found.times().deadline().minus(found.remaining());
        return new Claim.Kept(now, now.plus(found.terms().retention()), Duration.ZERO);
    }

    static Ruling on(ClaimRequest request, Snapshot found) {
        if (found.answersNoMore()) {
            return new BeginAnew();
        }
        if (!found.fingerprint().equals(request.fingerprint())) {
            return new Answer(new Claim.Mismatch());
        }
        Result result = found.result();
        if (result != null) {
            return new Answer(new Claim.Replay(result, Objects.requireNonNull(found.kept(), "when it ended")));
        }
        if (found.state() == State.IN_DOUBT) {
            return new Answer(new Claim.InDoubt());
        }
        boolean own = found.token().equals(request.token());
        if (found.state() == State.PENDING) {
            return own ? new Answer(GIVEN_BACK) : nextAttempt(request, found);
        }
        if (own) {
            return new Resume();
        }
        return found.pastDeadline() ? onAbandoned(request, found) : new Answer(new Claim.Running(found.remaining()));
    }

    private static Ruling onAbandoned(ClaimRequest request, Snapshot found) {
        return switch (found.terms().whenAbandoned()) {
            case RERUN -> nextAttempt(request, found);
            case FAIL -> new Fail(Result.abandoned());
            case PARK -> new Park();
        };
    }

    private static Ruling nextAttempt(ClaimRequest request, Snapshot found) {
        int counted = found.attempt() - found.attempts().forgiven();
        if (counted < request.terms().maxAttempts()) {
            return new TakeOver();
        }
        return found.terms().whenAbandoned() == WhenAbandoned.PARK ? new Park() : new Fail(Result.attemptsExhausted());
    }
}
