package dev.hapax;

import dev.hapax.store.OperationId;

/** The operation ran earlier, and the codec could not read its stored result. The record is as it was. */
public final class ResultNotReadableException extends HapaxException {
    private static final long serialVersionUID = 1L;

    ResultNotReadableException(OperationId operationId, Throwable cause) {
        super(
                operationId,
                "the stored result of operation %s cannot be decoded: %s".formatted(operationId, cause),
                cause);
    }
}
