package dev.hapax.store;

import java.time.Duration;

/**
 * The terms on which a scope claims: the part of its policy that a store acts on.
 *
 * @param lease how long a claim lasts unless renewed
 * @param retention how long an ended operation is kept, and how long a pending one is waited for
 * @param whenAbandoned what becomes of it when the lease runs out
 * @param maxAttempts how often it may be claimed in all
 * @param window for how long an ended operation answers a claim; after that the claim begins a new operation
 */
public record ClaimTerms(
        Duration lease, Duration retention, WhenAbandoned whenAbandoned, int maxAttempts, Duration window) {
    public ClaimTerms {
        Durations.requirePositive(lease, "lease");
        Durations.requirePositive(retention, "retention");
        Durations.requirePositive(window, "window");
        if (maxAttempts < 1) {
            throw new IllegalArgumentException("maxAttempts is " + maxAttempts + "; at least 1 is needed");
        }
    }

    /** An ended operation answers for as long as it is kept. */
    public ClaimTerms(Duration lease, Duration retention, WhenAbandoned whenAbandoned, int maxAttempts) {
        this(lease, retention, whenAbandoned, maxAttempts, retention);
    }
}
