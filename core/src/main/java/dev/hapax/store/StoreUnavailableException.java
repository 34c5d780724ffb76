package dev.hapax.store;

import org.jspecify.annotations.Nullable;

/**
 * The store could not be reached, or did not answer in time. Whether a write took effect is unknown; sending it again,
 * with the same token, is safe.
 */
public final class StoreUnavailableException extends StoreException {
    private static final long serialVersionUID = 1L;

    public StoreUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    @Override
    public boolean retryable() {
        return true;
    }
}
