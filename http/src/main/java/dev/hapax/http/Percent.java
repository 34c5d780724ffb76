package dev.hapax.http;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Percent-encoding, as RFC 3986 has it for the segments of a path. */
final class Percent {
    private static final String PLAIN = "-._~!$&'()*+,=:@";
    private static final String DIGITS = "0123456789ABCDEF";

    private Percent() {}

    /**
     * The text with every escape replaced once.
     *
     * @return empty if a percent sign begins no escape, or the bytes are not UTF-8
     */
    static Optional<String> decode(String text) {
        if (text.indexOf('%') < 0 && isAscii(text)) {
            return Optional.of(text);
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '%') {
                if (!escapeAt(text, i)) {
                    return Optional.empty();
                }
                bytes.write(16 * Character.digit(text.charAt(i + 1), 16) + Character.digit(text.charAt(i + 2), 16));
                i += 2;
            } else if (c > 0xFF) {
                return Optional.empty();
            } else {
                bytes.write(c);
            }
        }
        try {
            return Optional.of(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes.toByteArray()))
                    .toString());
        } catch (CharacterCodingException notUtf8) {
            return Optional.empty();
        }
    }

    /** Whether a percent sign and two hexadecimal digits stand there. */
    static boolean escapeAt(String text, int index) {
        return text.charAt(index) == '%' && isHex(text, index + 1) && isHex(text, index + 2);
    }

    /** Whether somebody might see an escape there: some servers know one with {@code u} and four digits too. */
    static boolean anyEscapeAt(String text, int index) {
        return escapeAt(text, index)
                || (text.regionMatches(true, index, "%u", 0, 2)
                        && isHex(text, index + 2)
                        && isHex(text, index + 3)
                        && isHex(text, index + 4)
                        && isHex(text, index + 5));
    }

    private static boolean isHex(String text, int index) {
        return index < text.length() && text.charAt(index) < 0x80 && Character.digit(text.charAt(index), 16) >= 0;
    }

    static boolean isAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) >= 0x80) {
                return false;
            }
        }
        return true;
    }

    /** One spelling for one segment: everything that may stand for itself does. */
    static String encode(String segment) {
        if (isPlain(segment)) {
            return segment;
        }
        StringBuilder encoded = new StringBuilder();
        for (byte b : segment.getBytes(StandardCharsets.UTF_8)) {
            if (isPlain((char) (b & 0xFF))) {
                encoded.append((char) b);
            } else {
                encoded.append('%').append(DIGITS.charAt((b >> 4) & 0xF)).append(DIGITS.charAt(b & 0xF));
            }
        }
        return encoded.toString();
    }

    private static boolean isPlain(String segment) {
        for (int i = 0; i < segment.length(); i++) {
            if (!isPlain(segment.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    private static boolean isPlain(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || PLAIN.indexOf(c) >= 0;
    }
}
