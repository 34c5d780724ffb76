package dev.hapax;

import org.jspecify.annotations.Nullable;

/**
 * What a handler throws when it cannot tell whether its work was done: a request that was sent and never answered.
 *
 * <p>The claim is given up at once, as the policy's {@code whenAbandoned} says: under {@code PARK} the outcome is
 * {@link Outcome.InDoubt}, under {@code FAIL} the operation has failed for good, and under {@code RERUN} this exception
 * reaches the caller and the next call runs the handler again.
 */
public class OutcomeUnknownException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public OutcomeUnknownException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
