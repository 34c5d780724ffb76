package dev.hapax;

import dev.hapax.store.ExpiredLease;
import dev.hapax.store.OperationKey;
import dev.hapax.store.Swept;
import java.time.Duration;

/**
 * Hears what happens to operations: for metrics, logs and traces. Called on the thread where it happens, which may be
 * one that others wait for: be quick, and do not call Hapax. Safe for use by many threads. What a listener throws is
 * logged and changes nothing.
 */
public interface HapaxListener {

    /** A claim was won; the handler runs next. */
    default void claimed(OperationKey key, int attempt) {}

    /** The handler's result was stored, {@code took} after the claim was won. */
    default void completed(OperationKey key, int attempt, Duration took) {}

    /** The handler failed for good, and that was stored. */
    default void failed(OperationKey key, int attempt, TerminalFailure failure) {}

    /** The handler threw something retryable, and the claim was given back. */
    default void released(OperationKey key, int attempt, Throwable cause) {}

    /** A retry got the stored ending. */
    default void replayed(OperationKey key) {}

    /** A call was told that another one is running. */
    default void inProgress(OperationKey key) {}

    /** A key came with another request than before. */
    default void mismatched(OperationKey key) {}

    /** A call met an operation that is parked. */
    default void inDoubt(OperationKey key) {}

    /** An owner's write was refused: somebody else has the operation now. */
    default void claimLost(OperationKey key, int attempt) {}

    /** The work is done, and the store could not be told: a retry after the lease may do it again. */
    default void unrecorded(OperationKey key, int attempt, Throwable cause) {}

    /** The work is done and recorded, but retries cannot get its result. */
    default void resultNotStored(OperationKey key, int attempt, String why) {}

    /** The handler runs without protection, because the store could not be reached and the policy says so. */
    default void unprotected(OperationKey key, Throwable cause) {}

    /** A call was refused, because the store could not be reached. */
    default void refused(OperationKey key, Throwable cause) {}

    /**
     * A lease expired: its owner crashed, stalled, or lost its connection to the store. Told once, by the claim or the
     * sweep that found it; a retry after an ordinary release is none.
     */
    default void leaseExpired(ExpiredLease lease) {}

    /** A sweep found something. */
    default void swept(Swept swept) {}
}
