package dev.hapax;

import dev.hapax.codec.Codec;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.OperationId;
import dev.hapax.store.OperationKey;
import java.time.Duration;
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
    private final @Nullable Duration timeout;
    private @Nullable OperationId id;

    Request(OperationKey key, Fingerprint fingerprint, Policy policy, Codec<T> codec, @Nullable Duration timeout) {
        this.key = key;
        this.fingerprint = fingerprint;
        this.policy = policy;
        this.codec = codec;
        this.timeout = timeout;
    }

    Request<T> withFingerprint(Fingerprint other) {
        return new Request<>(key, other, policy, codec, timeout);
    }

    <R> Request<R> withCodec(Codec<R> other) {
        return new Request<>(key, fingerprint, policy, other, timeout);
    }

    Request<T> withTimeout(Duration other) {
        return new Request<>(key, fingerprint, policy, codec, other);
    }

    /** How long the call may take to be admitted; {@code null}: as long as the policy and the store allow. */
    @Nullable
    Duration timeout() {
        return timeout;
    }

    /** How long the store may wait for an operation that another transaction has locked. */
    Duration claimTimeout() {
        Duration longest = ClaimRequest.DEFAULT_TIMEOUT;
        return timeout != null && timeout.compareTo(longest) < 0 ? timeout : longest;
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

    /** How long the call may wait for another one. */
    Duration longestWait() {
        Duration timeout = this.timeout;
        return timeout != null && timesOutWaiting()
                ? timeout
                : policy.whenInFlight().atMost();
    }

    /** Whether a wait for another call is ended by this call's own timeout, and not by its policy. */
    boolean timesOutWaiting() {
        return timeout != null && timeout.compareTo(policy.whenInFlight().atMost()) < 0;
    }

    boolean waits() {
        return policy.whenInFlight().mode() == WhenInFlight.Mode.WAIT;
    }
}
