package dev.hapax;

import dev.hapax.store.OperationId;

/** The key was used for another request before. Nothing ran; another request needs another key. */
public final class KeyReusedException extends HapaxException {
    private static final long serialVersionUID = 1L;

    KeyReusedException(OperationId operationId) {
        super(
                operationId,
                "the key of operation %s was used for another request before; use another key".formatted(operationId),
                null);
    }
}
