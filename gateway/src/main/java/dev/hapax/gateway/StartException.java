package dev.hapax.gateway;

import org.jspecify.annotations.Nullable;

/** Why a gateway did not start; the message is for the one who started it and says what to do. */
public final class StartException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public StartException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
