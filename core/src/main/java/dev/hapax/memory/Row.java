package dev.hapax.memory;

import dev.hapax.store.ClaimRequest;
import dev.hapax.store.Result;
import dev.hapax.store.Snapshot;
import dev.hapax.store.Snapshot.Attempts;
import dev.hapax.store.State;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One stored operation.
 *
 * @param request the claim that owns or owned it
 * @param token the request's, until somebody other than the owner changes the operation
 */
record Row(
        ClaimRequest request,
        State state,
        UUID token,
        Attempts attempts,
        Instant createdAt,
        Instant claimedAt,
        @Nullable Instant finishedAt,
        Instant deadline,
        @Nullable Result result) {

    static Row created(ClaimRequest request, Instant now) {
        return claimed(request, Attempts.FIRST, now);
    }

    /** A new operation in the place of one that is over. */
    Row begunAnew(ClaimRequest request, Instant now) {
        return claimed(request, new Attempts(1, 0, attempts.generation() + 1), now);
    }

    private static Row claimed(ClaimRequest request, Attempts attempts, Instant now) {
        return new Row(
                request,
                State.PROCESSING,
                request.token(),
                attempts,
                now,
                now,
                null,
                now.plus(request.terms().lease()),
                null);
    }

    Row claimedBy(ClaimRequest next, Instant now) {
        return new Row(
                next,
                State.PROCESSING,
                next.token(),
                counted(1),
                createdAt,
                now,
                null,
                now.plus(next.terms().lease()),
                null);
    }

    Row ended(Result how, UUID by, Instant now, Duration retention) {
        return new Row(request, how.state(), by, attempts, createdAt, claimedAt, now, now.plus(retention), how);
    }

    Row endedByOthers(Result how, Instant now) {
        return ended(how, UUID.randomUUID(), now, request.terms().retention());
    }

    Row pending(UUID by, Instant until) {
        return pending(by, until, 0);
    }

    /** @param uncounted how many attempts do not count after all */
    Row pending(UUID by, Instant until, int uncounted) {
        return new Row(request, State.PENDING, by, counted(-uncounted), createdAt, claimedAt, null, until, null);
    }

    Row parked(UUID by) {
        return new Row(request, State.IN_DOUBT, by, attempts, createdAt, claimedAt, null, Instant.MAX, null);
    }

    Row parkedByOthers() {
        return parked(UUID.randomUUID());
    }

    Row until(Instant later) {
        return new Row(request, state, token, attempts, createdAt, claimedAt, finishedAt, later, result);
    }

    private Attempts counted(int more) {
        return new Attempts(attempts.last() + more, attempts.forgiven(), attempts.generation());
    }

    Snapshot snapshot(Instant now) {
        return new Snapshot(
                request.id(),
                request.key(),
                state,
                request.fingerprint(),
                token,
                attempts,
                request.owner(),
                Snapshot.Terms.of(request.terms()),
                new Snapshot.Times(createdAt, claimedAt, finishedAt, deadline),
                Duration.between(now, deadline),
                result);
    }
}
