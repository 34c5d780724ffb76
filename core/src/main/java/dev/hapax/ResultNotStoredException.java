package dev.hapax;

import dev.hapax.store.OperationId;

/** The operation ran earlier and does not run again, but its result was not kept. */
public final class ResultNotStoredException extends HapaxException {
    private static final long serialVersionUID = 1L;

    private final int code;

    ResultNotStoredException(OperationId operationId, int code, String why) {
        super(operationId, "operation %s ran, but its result was not kept: %s".formatted(operationId, why), null);
        this.code = code;
    }

    /** The code of the result that was not kept, such as its HTTP status. */
    public int code() {
        return code;
    }
}
