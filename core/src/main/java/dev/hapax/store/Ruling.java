package dev.hapax.store;

/**
 * What a claim may do with an operation that is already there: the states of the design, in one place for every store.
 *
 * <p>A store reads the operation, asks {@link #on}, and either answers or carries the ruling out with one conditional
 * write that matches the token and state it saw. If that write finds nothing, somebody was faster: read again.
 */
public sealed interface Ruling {

    /** Nothing to write: this is the answer. */
    record Answer(Claim claim) implements Ruling {}

    /**
     * The claim is the sender's own, sent again: its lease begins anew. An answer alone would not do, since the lease
     * may be over by now and somebody else about to take over.
     */
    record Resume() implements Ruling {}

    /** Claim the operation for its next attempt. */
    record TakeOver() implements Ruling {}

    /** The operation is over: begin a new one in its place, with attempt 1 and the claimer's fingerprint. */
    record BeginAnew() implements Ruling {}

    /** End the operation with this failure, under a new token. */
    record Fail(Result result) implements Ruling {}

    /** Park the operation as {@link State#IN_DOUBT}, under a new token. */
    record Park() implements Ruling {}

    /** What the claimer is told, once the ruling has been carried out on what was {@code found}. */
    default Claim answer(Snapshot found) {
        if (this instanceof Answer it) {
            return it.claim();
        } else if (this instanceof Resume) {
            return new Claim.Won(found.attempt());
        } else if (this instanceof TakeOver) {
            return new Claim.Won(found.attempt() + 1);
        } else if (this instanceof BeginAnew) {
            return new Claim.Won(1);
        } else if (this instanceof Fail it) {
            return new Claim.Replay(it.result());
        }
        return new Claim.InDoubt();
    }

    static Ruling on(ClaimRequest request, Snapshot found) {
        if (found.expired() || found.endedBefore(request.terms().window())) {
            return new BeginAnew();
        }
        if (!found.fingerprint().equals(request.fingerprint())) {
            return new Answer(new Claim.Mismatch());
        }
        Result result = found.result();
        if (result != null) {
            return new Answer(
                    new Claim.Replay(result, found.answersFor(request.terms().window())));
        }
        if (found.state() == State.IN_DOUBT) {
            return new Answer(new Claim.InDoubt());
        }
        if (found.state() == State.PENDING) {
            return nextAttempt(request, found);
        }
        if (found.token().equals(request.token())) {
            return new Resume();
        }
        return found.pastDeadline() ? onAbandoned(request, found) : new Answer(new Claim.Running(found.remaining()));
    }

    private static Ruling onAbandoned(ClaimRequest request, Snapshot found) {
        return switch (found.whenAbandoned()) {
            case RERUN -> nextAttempt(request, found);
            case FAIL -> new Fail(Result.abandoned());
            case PARK -> new Park();
        };
    }

    private static Ruling nextAttempt(ClaimRequest request, Snapshot found) {
        if (found.attempt() < request.terms().maxAttempts()) {
            return new TakeOver();
        }
        return found.whenAbandoned() == WhenAbandoned.PARK ? new Park() : new Fail(Result.attemptsExhausted());
    }
}
