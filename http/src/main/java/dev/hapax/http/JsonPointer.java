package dev.hapax.http;

/** A way to a member of a JSON document: RFC 6901. */
public record JsonPointer(String text) {
    /** @throws IllegalArgumentException that says what is wrong with the text */
    public static JsonPointer of(String text) {
        return new JsonPointer(text);
    }
}
