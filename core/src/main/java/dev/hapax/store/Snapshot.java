package dev.hapax.store;

import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A stored operation as it was at one moment of the store's clock.
 *
 * @param owner who claimed it last
 * @param whenAbandoned what becomes of it when its lease runs out
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
        int attempt,
        String owner,
        WhenAbandoned whenAbandoned,
        Times times,
        Duration remaining,
        @Nullable Result result) {

    /**
     * When things happened to an operation, on the store's clock; the deadline of a parked one is {@link Instant#MAX}.
     */
    public record Times(
            Instant createdAt, Instant claimedAt, @Nullable Instant finishedAt, Instant deadline) {}

    public boolean pastDeadline() {
        return remaining.isNegative() || remaining.isZero();
    }

    /** Whether it has ended and its retention is over: the next claim begins a new operation. */
    public boolean expired() {
        return state.isTerminal() && pastDeadline();
    }

    /** Whether it has ended, and at least this long ago. */
    public boolean endedBefore(Duration ago) {
        Instant finishedAt = times.finishedAt();
        return finishedAt != null && endedAgo(finishedAt).compareTo(ago) >= 0;
    }

    /** How much longer it answers claims, once it has ended, if it does so for {@code window} in all. */
    public Duration answersFor(Duration window) {
        Instant finishedAt = times.finishedAt();
        if (finishedAt == null) {
            return Duration.ZERO;
        }
        Duration ofWindow = window.minus(endedAgo(finishedAt));
        return ofWindow.compareTo(remaining) < 0 ? ofWindow : remaining;
    }

    private Duration endedAgo(Instant finishedAt) {
        return Duration.between(finishedAt, times.deadline()).minus(remaining);
    }

    /** Whether somebody owns it and the lease still lasts. */
    public boolean running() {
        return state == State.PROCESSING && !pastDeadline();
    }
}
