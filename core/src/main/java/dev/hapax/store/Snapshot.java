package dev.hapax.store;

import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A stored operation as it was at one moment of the store's clock.
 *
 * @param owner who claimed it last
 * @param terms what it is kept on
 * @param times when things happened to it
 * @param remaining until its deadline on the store's clock; negative once that has passed
 * @param result how it ended, if it did
 */
public record Snapshot(
        OperationId id,
        OperationKey key,
        State state,
        Fingerprint fingerprint,
        UUID token,
        Attempts attempts,
        String owner,
        Terms terms,
        Times times,
        Duration remaining,
        @Nullable Result result) {

    /**
     * How often an operation was claimed.
     *
     * @param last the number of the last attempt
     * @param forgiven the attempts that no longer count against {@link ClaimTerms#maxAttempts}: those before an
     *     operator released the operation
     * @param generation how many operations the id has stood for, this one included
     */
    public record Attempts(int last, int forgiven, int generation) {
        public static final Attempts FIRST = new Attempts(1, 0, 1);
    }

    /**
     * The terms of the claim that owns or owned the operation.
     *
     * @param window for how long, from its end, it answers claims; {@code null}: until its deadline
     */
    public record Terms(
            WhenAbandoned whenAbandoned,
            Duration retention,
            @Nullable Duration window) {
        public static Terms of(ClaimTerms terms) {
            return new Terms(terms.whenAbandoned(), terms.retention(), terms.window());
        }
    }

    /**
     * When things happened to an operation, on the store's clock; the deadline of a parked one is {@link Instant#MAX}.
     */
    public record Times(
            Instant createdAt, Instant claimedAt, @Nullable Instant finishedAt, Instant deadline) {}

    public int attempt() {
        return attempts.last();
    }

    public boolean pastDeadline() {
        return remaining.isNegative() || remaining.isZero();
    }

    /** Whether it has ended and its retention is over, so that the next claim begins a new operation. */
    public boolean expired() {
        return state.isTerminal() && pastDeadline();
    }

    /** Whether it has ended and no longer answers claims: its retention or its window is over. */
    public boolean answersNoMore() {
        return expired() || (times.finishedAt() != null && isOver(answersFor(times.finishedAt())));
    }

    /** How its result is kept, if it has one. */
    public Claim.@Nullable Kept kept() {
        Instant finishedAt = times.finishedAt();
        return finishedAt == null ? null : new Claim.Kept(finishedAt, answersUntil(finishedAt), answersFor(finishedAt));
    }

    private Instant answersUntil(Instant finishedAt) {
        Duration window = terms.window();
        Instant deadline = times.deadline();
        return window != null && finishedAt.plus(window).isBefore(deadline) ? finishedAt.plus(window) : deadline;
    }

    private Duration answersFor(Instant finishedAt) {
        Duration window = terms.window();
        if (window == null) {
            return remaining;
        }
        Duration endedAgo = Duration.between(finishedAt, times.deadline()).minus(remaining);
        Duration ofWindow = window.minus(endedAgo);
        return ofWindow.compareTo(remaining) < 0 ? ofWindow : remaining;
    }

    private static boolean isOver(Duration left) {
        return left.isNegative() || left.isZero();
    }

    /** Whether an owner has it and the lease still lasts. */
    public boolean running() {
        return state == State.PROCESSING && !pastDeadline();
    }

    /** The lease that has run out, if this is an abandoned operation. */
    public @Nullable ExpiredLease expiredLease() {
        return state == State.PROCESSING && pastDeadline() ? new ExpiredLease(id, key, attempt(), owner) : null;
    }
}
