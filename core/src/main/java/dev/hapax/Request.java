package dev.hapax;

import dev.hapax.codec.Codec;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.OperationId;
import dev.hapax.store.OperationKey;
import org.jspecify.annotations.Nullable;

/**
 * One call, as the engine sees it. Immutable: the id is computed when it is first asked for, since a repeat that is
 * still in memory needs none; two threads at once compute the same.
 */
final class Request<T> {
    private final OperationKey key;
    private final Fingerprint fingerprint;
    private final Policy policy;
    private final Codec<T> codec;
    private @Nullable OperationId id;

    Request(OperationKey key, Fingerprint fingerprint, Policy policy, Codec<T> codec) {
        this.key = key;
        this.fingerprint = fingerprint;
        this.policy = policy;
        this.codec = codec;
    }

    Request<T> withFingerprint(Fingerprint other) {
        return new Request<>(key, other, policy, codec);
    }

    <R> Request<R> withCodec(Codec<R> other) {
        return new Request<>(key, fingerprint, policy, other);
    }

    OperationKey key() {
        return key;
    }

    Fingerprint fingerprint() {
        return fingerprint;
    }

    Policy policy() {
        return policy;
    }

    Codec<T> codec() {
        return codec;
    }

    OperationId id() {
        OperationId known = id;
        if (known == null) {
            known = key.id();
            id = known;
        }
        return known;
    }

    boolean waits() {
        return policy.whenInFlight().mode() == WhenInFlight.Mode.WAIT;
    }
}
