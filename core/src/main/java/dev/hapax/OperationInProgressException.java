package dev.hapax;

import dev.hapax.store.OperationId;
import java.time.Duration;

/** Another call runs the operation. Nothing ran; calling again later gets its result. */
public final class OperationInProgressException extends HapaxException {
    private static final long serialVersionUID = 1L;

    private final Duration retryAfter;

    OperationInProgressException(OperationId operationId, Duration retryAfter) {
        super(
                operationId,
                "operation %s is in progress; call again with the same key after %s".formatted(operationId, retryAfter),
                null);
        this.retryAfter = retryAfter;
    }

    public Duration retryAfter() {
        return retryAfter;
    }
}
