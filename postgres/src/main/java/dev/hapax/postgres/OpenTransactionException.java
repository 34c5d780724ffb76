package dev.hapax.postgres;

import dev.hapax.store.StoreException;

/**
 * The data source gave Hapax a connection in the middle of a transaction that Hapax did not begin. Hapax has neither
 * used nor changed that connection. Claims fail with it; what an owner writes is sent by another thread then.
 */
public final class OpenTransactionException extends StoreException {
    private static final long serialVersionUID = 1L;

    OpenTransactionException(Throwable cause) {
        this(
                "The data source returned a connection with an open transaction that Hapax did not begin, so Hapax did "
                        + "not use it. To record the operation within that transaction, call "
                        + "hapax.transactional(store.enlist(connection)). To record it independently, end the "
                        + "transaction first, give Hapax a data source that is not bound to the calling thread, or "
                        + "build the store with callerThreads(false).",
                cause);
    }

    /** @param message what happened, and what to do about it */
    public OpenTransactionException(String message, Throwable cause) {
        super(message, cause);
    }
}
