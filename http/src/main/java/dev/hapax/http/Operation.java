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
     * The headers that tell an upstream: {@code Idempotency-Key}, {@code Hapax-Attempt}, {@code Hapax-Operation-Id}.
     */
    public Headers headers() {
        if (key == null || lease == null) {
            return Headers.NONE;
        }
        return Headers.of(
                "Idempotency-Key",
                '"' + key.replace("\\", "\\\\").replace("\"", "\\\"") + '"',
                Names.ATTEMPT,
                Integer.toString(lease.attempt()),
                Names.OPERATION_ID,
                lease.operationId().toString());
    }
}
