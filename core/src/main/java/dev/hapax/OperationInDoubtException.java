package dev.hapax;

import dev.hapax.store.OperationId;

/** Whether the operation was done is not known: an operator has to find out. It does not run again before that. */
public final class OperationInDoubtException extends HapaxException {
    private static final long serialVersionUID = 1L;

    OperationInDoubtException(OperationId operationId) {
        super(
                operationId,
                "whether operation %s was done is not known; it waits for an operator".formatted(operationId),
                null);
    }
}
