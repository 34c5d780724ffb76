package dev.hapax;

/**
 * What a handler throws that has done nothing: its turn did not come, or its process is about to stop.
 *
 * <p>The claim is given back for the next call, and does not count as an attempt: an operation that never began is not
 * one that fails again and again. It reaches the caller. Nobody is to blame, so it has no stack trace.
 */
public class NotBegunException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public NotBegunException(String why) {
        super(why, null, false, false);
    }
}
