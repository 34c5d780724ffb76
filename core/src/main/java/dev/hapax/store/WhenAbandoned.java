package dev.hapax.store;

/**
 * What becomes of an operation whose owner let the lease run out. Stored with the operation, so any sweeper can act.
 */
public enum WhenAbandoned {
    /** The next claim runs it again, with the next attempt number. */
    RERUN,
    /** It ends as {@link State#FAILED}. */
    FAIL,
    /** It is parked as {@link State#IN_DOUBT} until somebody decides. */
    PARK
}
