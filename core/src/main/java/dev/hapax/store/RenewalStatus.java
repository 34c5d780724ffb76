package dev.hapax.store;

/** What became of a {@link Renewal}. */
public enum RenewalStatus {
    /** The lease lasts for its full length again. */
    RENEWED,
    /** The claim is no longer the sender's: another owner has the operation, or it is gone. */
    LOST,
    /**
     * The store cannot tell at the moment, because another transaction has locked the operation; or the operation was
     * finished or released with this very token. Neither prolongs the lease, and neither is a loss.
     */
    UNKNOWN
}
