package dev.hapax.testkit.http;

/** The application has done its work and will not say so: an adapter cuts the connection, or the like. */
public final class HangUpException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    HangUpException() {
        super("the application was told to hang up");
    }
}
