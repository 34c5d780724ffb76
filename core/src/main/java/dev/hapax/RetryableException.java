package dev.hapax;

import org.jspecify.annotations.Nullable;

/**
 * What a handler throws whose work failed and left nothing behind: the next call runs it again, and the attempt counts.
 *
 * <p>It says so even where the policy takes other exceptions for unknown outcomes, as {@link Policy#payment} does. It
 * reaches the caller. For work that was not begun at all there is {@link NotBegunException}.
 */
public class RetryableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public RetryableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
