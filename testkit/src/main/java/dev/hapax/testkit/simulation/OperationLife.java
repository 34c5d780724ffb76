package dev.hapax.testkit.simulation;

import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.ClaimTerms;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.WhenAbandoned;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What a simulation knows of one operation from what the store was asked, not from what the store says: from its first
 * claim until its own deadline, or window, has passed.
 */
final class OperationLife {
    final String name;
    final Fingerprint fingerprint;
    final int generation;
    private int counted;
    private int lastAttempt;
    private @Nullable ClaimRequest owner;
    private boolean released;
    private boolean unknown;
    private long answersUntil = Long.MAX_VALUE;
    private long keptUntil = Long.MAX_VALUE;

    OperationLife(String name, ClaimRequest first, Claim.Won won) {
        this.name = name;
        this.fingerprint = first.fingerprint();
        this.generation = won.generation();
    }

    void claimed(ClaimRequest request, int attempt) {
        boolean resumed = owner != null && owner.token().equals(request.token()) && !released && attempt == lastAttempt;
        if (!resumed) {
            counted++;
        }
        owner = request;
        lastAttempt = attempt;
        released = false;
    }

    /** Whether the last owner neither finished nor released: only {@code RERUN} lets another one follow it. */
    boolean isHeldAgainst(ClaimRequest next) {
        return owner != null
                && !released
                && !owner.token().equals(next.token())
                && owner.terms().whenAbandoned() != WhenAbandoned.RERUN;
    }

    /** @return whether this is the release that counts, and not one that was sent again */
    boolean released(UUID token, boolean counts) {
        boolean first = owner != null && owner.token().equals(token) && !released;
        if (first) {
            released = true;
            counted -= counts ? 0 : 1;
        }
        return first;
    }

    /** How many claims were granted that count as an attempt. */
    int attempts() {
        return counted;
    }

    /** Whether a token's claim is the one that counts, neither released nor finished. */
    boolean isOwnedBy(UUID token) {
        return owner != null && owner.token().equals(token) && !released && !isEnded();
    }

    /** Its handler could not tell whether it did anything, under a policy that does not run it again. */
    void leftUnknown() {
        unknown = true;
    }

    boolean isUnknown() {
        return unknown;
    }

    boolean isEnded() {
        return keptUntil != Long.MAX_VALUE;
    }

    /** The end that counts is the first one. */
    void ended(long now, Duration retention) {
        if (!isEnded() && owner != null) {
            Duration window = owner.terms().window();
            keptUntil = now + retention.toNanos();
            answersUntil = window == null ? keptUntil : Math.min(keptUntil, now + window.toNanos());
        }
    }

    /** Ended by the store itself, on the terms of the last owner. */
    void endedByStore(long now) {
        ClaimTerms terms = owner == null ? null : owner.terms();
        if (terms != null) {
            ended(now, terms.retention());
        }
    }

    /** Whether the next claim begins a new operation. */
    boolean isOver(long now) {
        return now >= answersUntil;
    }

    boolean mayBeRemoved(long now) {
        return now >= keptUntil;
    }
}
