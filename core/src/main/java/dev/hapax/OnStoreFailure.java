package dev.hapax;

/** What a call gets when the store cannot be reached. */
public enum OnStoreFailure {
    /** {@link dev.hapax.store.StoreUnavailableException}: the handler does not run. */
    CLOSED,
    /** The handler runs unprotected: a retry may run it again. Counted and logged. */
    OPEN
}
