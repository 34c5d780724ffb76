package dev.hapax;

import org.jspecify.annotations.Nullable;

/**
 * The end of an operation in a failure that is final: a declined card, a rejected order. A handler throws it; it is
 * stored and given to every retry, and the handler does not run again.
 *
 * <p>Any other exception is retryable: the claim is given back and the next call runs the handler again, as often as
 * the policy's {@code maxAttempts} allows, unless the policy says otherwise ({@link Policy#terminalOn}).
 */
public class TerminalFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int code;

    public TerminalFailure(int code, String message) {
        this(code, message, null);
    }

    public TerminalFailure(int code, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    /** A number of the handler's choice, such as an HTTP status; 0 where there is none. */
    public int code() {
        return code;
    }

    static TerminalFailure of(Throwable thrown) {
        return thrown instanceof TerminalFailure failure ? failure : new TerminalFailure(0, describe(thrown), thrown);
    }

    /** What an exception says of itself; if that fails in turn, its name. */
    static String describe(Throwable thrown) {
        try {
            return thrown.toString();
        } catch (RuntimeException | Error broken) {
            return thrown.getClass().getName();
        }
    }
}
