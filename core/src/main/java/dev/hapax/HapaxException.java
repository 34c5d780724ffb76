package dev.hapax;

import dev.hapax.store.OperationId;
import org.jspecify.annotations.Nullable;

/** Something about one operation that its caller did not expect. */
public abstract sealed class HapaxException extends RuntimeException
        permits CallInterruptedException,
                CallTimeoutException,
                ClaimLostException,
                KeyReusedException,
                OperationInDoubtException,
                OperationInProgressException,
                ResultNotReadableException,
                ResultNotStoredException {
    private static final long serialVersionUID = 1L;

    private final transient OperationId operationId;

    HapaxException(OperationId operationId, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.operationId = operationId;
    }

    public final OperationId operationId() {
        return operationId;
    }
}
