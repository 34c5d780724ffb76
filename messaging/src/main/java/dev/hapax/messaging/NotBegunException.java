package dev.hapax.messaging;

/** The handler's turn did not come, so its claim is given back. Nobody is to blame: it has no stack trace. */
final class NotBegunException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    NotBegunException() {
        super("given back before it began", null, false, false);
    }
}
