package dev.hapax.codec;

/** What a codec throws for a result that it will not keep: the operation is recorded as done, without its result. */
public final class NotKeptException extends Exception {
    private static final long serialVersionUID = 1L;

    private final int code;

    /** @param code the code that the payload would have had */
    public NotKeptException(int code, String why) {
        super(why);
        this.code = code;
    }

    public int code() {
        return code;
    }
}
