package dev.hapax.store;

import org.jspecify.annotations.Nullable;

/** The store refused or could not do what it was asked, and will not do it if asked again without a change. */
public class StoreException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public StoreException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /** Whether the same call may succeed later. */
    public boolean retryable() {
        return false;
    }
}
