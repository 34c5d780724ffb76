package dev.hapax.store;

import java.util.UUID;

/**
 * A database transaction of the caller's, enlisted so that the effect and its record commit or vanish together.
 *
 * <p>Belongs to the thread that owns the transaction. Never commits, never rolls the transaction back as a whole, never
 * opens another one. Failures are {@link StoreException}s; the transaction is then to be rolled back.
 */
public interface StoreTransaction {

    /**
     * Decides, without blocking on other transactions, whether this one runs the operation. {@link Claim.Won} lasts
     * until the transaction ends; nothing is visible to others before it commits. What is done from then on belongs to
     * the operation, and {@link #undo} takes it back.
     */
    Claim claim(ClaimRequest request);

    /**
     * Takes back what was done since the claim with this token was won, operations within this one included. The claim
     * is still held.
     */
    void undo(UUID token);

    /**
     * Writes how the operation ended, to be committed with the effect. A transaction that is committed by
     * {@link Transactions} may write it no sooner than with its commit, which then fails if the claim was lost.
     *
     * @return {@link Written#CLAIM_LOST} when somebody claimed the operation outside of transactions meanwhile; the
     *     effect must not be committed
     */
    Written finish(Finish finish);
}
