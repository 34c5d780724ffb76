package dev.hapax.store;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The terms on which a scope claims: the part of its policy that a store acts on. The operation keeps them: what
 * becomes of it is decided by the terms of the claim that owns it, not by those of a later one.
 *
 * @param lease how long a claim lasts unless renewed
 * @param retention how long an ended operation is kept, and how long a pending one is waited for
 * @param whenAbandoned what becomes of it when the lease runs out
 * @param maxAttempts how often it may be claimed in all; the only term that is taken from the claim that comes
 * @param window for how long, from its end, the operation answers a claim; after that the claim begins a new operation.
 *     {@code null}: for as long as it is kept
 */
public record ClaimTerms(
        Duration lease,
        Duration retention,
        WhenAbandoned whenAbandoned,
        int maxAttempts,
        @Nullable Duration window) {
    public ClaimTerms {
        Durations.requirePositive(lease, "lease");
        Durations.requirePositive(retention, "retention");
        if (window != null) {
            Durations.requirePositive(window, "window");
        }
        if (maxAttempts < 1) {
            throw new IllegalArgumentException("maxAttempts is " + maxAttempts + "; at least 1 is needed");
        }
    }

    /** An ended operation answers for as long as it is kept. */
    public ClaimTerms(Duration lease, Duration retention, WhenAbandoned whenAbandoned, int maxAttempts) {
        this(lease, retention, whenAbandoned, maxAttempts, null);
    }
}
