package dev.hapax;

import dev.hapax.store.OperationId;

/**
 * The handler ran, but the claim was no longer its own when the result was to be stored: the lease had run out and
 * somebody else took over, or an operator did. Nothing was changed. Calling again with the same key gives what the new
 * owner made of it.
 */
public final class ClaimLostException extends HapaxException {
    private static final long serialVersionUID = 1L;

    private final int attempt;

    ClaimLostException(OperationId operationId, int attempt) {
        super(
                operationId,
                "attempt %d of operation %s lost its claim before it finished; call again with the same key"
                        .formatted(attempt, operationId),
                null);
        this.attempt = attempt;
    }

    /** The attempt that was overtaken. */
    public int attempt() {
        return attempt;
    }
}
