package dev.hapax;

import dev.hapax.store.OperationId;

/**
 * The calling thread was interrupted before the handler began. The handler did not run; a claim that is won
 * nevertheless is given back. The thread's interrupt flag is set.
 */
public final class CallInterruptedException extends HapaxException {
    private static final long serialVersionUID = 1L;

    CallInterruptedException(OperationId operationId) {
        super(operationId, "interrupted before operation %s could run".formatted(operationId), null);
    }
}
