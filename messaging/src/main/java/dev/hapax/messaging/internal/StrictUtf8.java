package dev.hapax.messaging.internal;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Text out of bytes that a sender chose. */
public final class StrictUtf8 {
    private StrictUtf8() {}

    /**
     * Decodes strictly: with replacement characters, different keys would become the same one.
     *
     * @param what such as {@code header "order"}, for the message of the exception
     * @throws IllegalArgumentException when the bytes are not UTF-8
     */
    public static String decode(byte[] bytes, String what) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException notText) {
            throw new IllegalArgumentException(
                    "%s holds %d bytes that are not UTF-8".formatted(what, bytes.length), notText);
        }
    }
}
