package dev.hapax.http;

/**
 * A pattern of paths: {@code /v1/orders/{order_id}/invoice}. A name in braces stands for one segment, {@code **} at the
 * end for any rest.
 */
public record PathPattern(String text) {
    /** @throws IllegalArgumentException that says what is wrong with the text */
    public static PathPattern of(String text) {
        return new PathPattern(text);
    }
}
