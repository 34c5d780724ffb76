package dev.hapax;

import dev.hapax.codec.Codec;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.OperationId;
import dev.hapax.store.OperationKey;

/** One call, as the engine sees it. */
record Request<T>(OperationKey key, OperationId id, Fingerprint fingerprint, Policy policy, Codec<T> codec) {

    boolean waits() {
        return policy.whenInFlight().mode() == WhenInFlight.Mode.WAIT;
    }
}
