package dev.hapax.http;

import dev.hapax.Lease;
import org.jspecify.annotations.Nullable;

/**
 * What the work is told about the operation it belongs to.
 *
 * @param key the caller's key, wherever it came from; empty when the request passes unprotected because it has none
 * @param lease empty when the request passes unprotected
 */
public record Operation(@Nullable String key, @Nullable Lease lease) {

    /**
     * The headers that tell an upstream: {@code Idempotency-Key}, {@code Hapax-Attempt}, {@code Hapax-Generation},
     * {@code Hapax-Operation-Id}. Where a key begins a new operation after the one before has expired, the generation
     * is part of the key that goes upstream: a service that remembers keys for longer would give its old answer
     * otherwise.
     */
    public Headers headers() {
        if (key == null || lease == null) {
            return Headers.NONE;
        }
        return Headers.of(
                "Idempotency-Key",
                '"' + ofGeneration(key, lease).replace("\\", "\\\\").replace("\"", "\\\"") + '"',
                Names.ATTEMPT,
                Integer.toString(lease.attempt()),
                Names.GENERATION,
                Integer.toString(lease.generation()),
                Names.OPERATION_ID,
                lease.operationId().toString());
    }

    private static String ofGeneration(String key, Lease lease) {
        return lease.generation() == 1 ? key : key + "#" + lease.generation();
    }
}
