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
     * until the transaction ends; nothing is visible to others before it commits.
     */
    Claim claim(ClaimRequest request);

    /** Marks the point that {@link #undo} goes back to: everything after it belongs to the claim with this token. */
    void begin(UUID token);

    /** Takes back what was done since {@link #begin}, operations within this one included. The claim is still held. */
    void undo(UUID token);

    /**
     * Writes how the operation ended, to be committed with the effect.
     *
     * @return {@link Written#CLAIM_LOST} when somebody claimed the operation outside of transactions meanwhile; the
     *     effect must not be committed
     */
    Written finish(Finish finish);
}
