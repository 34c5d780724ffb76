package dev.hapax.messaging.internal;

import java.util.concurrent.CompletionException;

/** The errors of completion stages. */
public final class CompletionErrors {
    private CompletionErrors() {}

    /** What was thrown, without the wrapper of a dependent stage. */
    public static Throwable cause(Throwable error) {
        return error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    }
}
