package dev.hapax;

import dev.hapax.store.OperationId;
import java.time.Duration;

/** The call's own timeout passed before it was decided what becomes of it. Its handler did not run and will not. */
public final class CallTimeoutException extends HapaxException {
    private static final long serialVersionUID = 1L;

    CallTimeoutException(OperationId operationId, Duration timeout) {
        super(
                operationId,
                "operation %s was not admitted within %s; nothing ran, call again with the same key"
                        .formatted(operationId, timeout),
                null);
    }
}
