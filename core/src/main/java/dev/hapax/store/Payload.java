package dev.hapax.store;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a result, as a codec writes and reads them. They are stored and replayed unchanged.
 *
 * <p>The arrays are not copied: who makes a payload gives them away, who reads one must leave them as they are.
 *
 * @param code a number the codec chooses, such as an HTTP status; 0 where there is none
 * @param headers what belongs to the body but is not in it; may be empty
 * @param body the result itself; may be empty
 */
@SuppressWarnings("ArrayRecordComponent") // compared by content below
public record Payload(int code, byte[] headers, byte[] body) {
    private static final byte[] EMPTY = {};

    public Payload {
        Objects.requireNonNull(headers, "headers");
        Objects.requireNonNull(body, "body");
    }

    public static Payload of(byte[] body) {
        return new Payload(0, EMPTY, body);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Payload that
                && code == that.code
                && Arrays.equals(headers, that.headers)
                && Arrays.equals(body, that.body);
    }

    @Override
    public int hashCode() {
        return 31 * code + Arrays.hashCode(body);
    }

    @Override
    public String toString() {
        return "Payload[code=%d, %d bytes]".formatted(code, body.length);
    }
}
