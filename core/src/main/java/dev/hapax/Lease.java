package dev.hapax;

import dev.hapax.store.OperationId;
import java.util.UUID;
import java.util.concurrent.CompletionStage;

/** The owner's side of a claim, given to the handler. Safe for use by many threads. */
public interface Lease {

    OperationId operationId();

    /** How often this operation was claimed, this time included: above 1, an earlier attempt may have left traces. */
    int attempt();

    /** How many operations this one's key has stood for, this one included: it begins anew once it has expired. */
    int generation();

    /** The fencing token: a system that keeps the latest token it saw can refuse a stale owner. */
    UUID token();

    /**
     * An idempotency key for a system that the handler calls: the same on every attempt of this operation, different
     * for every name, and for a new operation that takes this one's place once it has expired, for as long as this
     * one's record is kept (see {@link Policy#retention}).
     *
     * @param name what the key is for, such as {@code "stripe.charge"}
     */
    String downstreamKey(String name);

    /**
     * Whether the claim is lost, or older than its lease on this process's own clock because it could not be renewed in
     * time: whatever the handler still does may be in vain. Computed when asked, so that it is right even while
     * renewals hang.
     */
    boolean isLost();

    /** Completes when the claim is lost; never otherwise. Long handlers stop then. */
    CompletionStage<Void> lost();
}
