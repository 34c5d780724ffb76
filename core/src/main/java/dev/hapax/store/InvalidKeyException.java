package dev.hapax.store;

/**
 * A tenant, scope or key that cannot name an operation.
 *
 * <p>The caller sent something wrong: the same call will fail again. An HTTP adapter answers 400.
 */
public final class InvalidKeyException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private final Part part;

    /** The part of the {@link OperationKey} that was refused. */
    public enum Part {
        TENANT,
        SCOPE,
        KEY
    }

    InvalidKeyException(Part part, String message) {
        super(message);
        this.part = part;
    }

    public Part part() {
        return part;
    }
}
