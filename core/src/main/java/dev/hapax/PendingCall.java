package dev.hapax;

import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.OperationId;
import dev.hapax.store.Store;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * A call on its way in.
 *
 * @param via the store, as its caller uses it
 * @param firstClaim how the claim is sent for the first time
 * @param waitUntil how long it may wait for another call, on this process's own clock
 */
record PendingCall<T>(
        Request<T> request, Store via, Function<ClaimRequest, CompletionStage<Claim>> firstClaim, long waitUntil) {

    /** The same call once more, on a thread that must not block. */
    PendingCall<T> again(Store store) {
        return new PendingCall<>(request, store, store::claim, waitUntil);
    }

    OperationId id() {
        return request.id();
    }
}
