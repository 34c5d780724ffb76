package dev.hapax.store;

import java.time.Duration;

/**
 * The terms on which a scope claims: the part of its policy that a store acts on.
 *
 * @param lease how long a claim lasts unless renewed
 * @param retention how long an ended operation is kept, and how long a pending one is waited for
 * @param whenAbandoned what becomes of it when the lease runs out
 * @param maxAttempts how often it may be claimed in all
 */
public record ClaimTerms(Duration lease, Duration retention, WhenAbandoned whenAbandoned, int maxAttempts) {
    public ClaimTerms {
        Durations.requirePositive(lease, "lease");
        Durations.requirePositive(retention, "retention");
        if (maxAttempts < 1) {
            throw new IllegalArgumentException("maxAttempts is " + maxAttempts + "; at least 1 is needed");
        }
    }
}
