package dev.hapax.messaging;

import dev.hapax.Lease;
import dev.hapax.NotBegunException;
import dev.hapax.Policy;
import dev.hapax.RetryableException;
import dev.hapax.TerminalFailure;

/**
 * Makes the failure of the last attempt a final one. The engine would say so too, on the next delivery, but could not
 * say why it failed.
 */
final class LastAttempt {
    private static final int EXHAUSTED = 500;

    private LastAttempt() {}

    static Throwable judge(Policy policy, Lease lease, Throwable thrown) {
        boolean decided =
                isForGood(policy, thrown) || thrown instanceof NotBegunException || leavesUnknown(policy, thrown);
        if (decided || lease.attempt() < policy.maxAttempts()) {
            return thrown;
        }
        return new TerminalFailure(
                EXHAUSTED,
                "attempt %d of %d failed: %s".formatted(lease.attempt(), policy.maxAttempts(), thrown),
                thrown);
    }

    /** What may have been done has not failed; the engine does with it what the policy says. */
    private static boolean leavesUnknown(Policy policy, Throwable thrown) {
        try {
            return !(thrown instanceof RetryableException) && policy.isUnknown(thrown);
        } catch (RuntimeException | Error broken) {
            return true;
        }
    }

    /** What the user's own code says; if it fails in turn, the message may be tried again. */
    static boolean isForGood(Policy policy, Throwable thrown) {
        try {
            return policy.isTerminal(thrown);
        } catch (RuntimeException | Error broken) {
            return false;
        }
    }
}
