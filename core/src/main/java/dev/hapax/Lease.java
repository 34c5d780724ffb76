package dev.hapax;

import dev.hapax.store.OperationId;
import java.util.UUID;
import java.util.concurrent.CompletionStage;

/** The owner's side of a claim, given to the handler. Safe for use by many threads. */
public interface Lease {

    OperationId operationId();

    /** How often this operation was claimed, this time included: above 1, an earlier attempt may have left traces. */
    int attempt();

    /** The fencing token: a system that keeps the latest token it saw can refuse a stale owner. */
    UUID token();

    /**
     * An idempotency key for a system that the handler calls: the same on every attempt of this operation, different
     * for every name.
     *
     * @param name what the key is for, such as {@code "stripe.charge"}
     */
    String downstreamKey(String name);

    /**
     * Whether the claim is known to be lost, or could not be renewed in time: whatever the handler still does is in
     * vain.
     */
    boolean isLost();

    /** Completes when the claim is lost; never otherwise. Long handlers stop then. */
    CompletionStage<Void> lost();
}
