package dev.hapax.store;

/**
 * The state of a stored operation.
 *
 * <p>{@code EXPIRED} is not among them: it is what a terminal operation is once its deadline has passed, whether or not
 * it was removed yet.
 */
public enum State {
    /** No owner, claimable now. Its deadline says until when somebody may still come. */
    PENDING,
    /** Claimed by one owner. Its deadline is the end of the lease. */
    PROCESSING,
    /** Ended well; the result is replayed until the deadline. */
    COMPLETED,
    /** Ended in a failure that is final; the failure is replayed until the deadline. */
    FAILED,
    /**
     * The owner went away and nobody knows how far it came. Waits for an operator or a reconciler, without a deadline.
     */
    IN_DOUBT;

    /** Whether the operation has ended: its outcome is never replaced. */
    public boolean isTerminal() {
        return this == COMPLETED || this == FAILED;
    }
}
