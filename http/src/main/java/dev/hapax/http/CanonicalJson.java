package dev.hapax.http;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/**
 * A JSON document in the one form that all its spellings share: the order of members, white space, escapes and the
 * notation of numbers do not show. Immutable.
 *
 * <p>Every value begins with a letter for its kind. Texts, numbers, arrays and objects then have four bytes for the
 * length of what follows: the UTF-8 of a text, digits and exponent of a number, the values of an array, the names and
 * values of an object in the order of their names. So no two documents have the same bytes, and whatever is not wanted
 * is skipped without being looked at.
 */
final class CanonicalJson {
    static final byte TEXT = 'S';
    static final byte NUMBER = 'N';
    static final byte TRUE = 't';
    static final byte FALSE = 'f';
    static final byte NULL = 'n';
    static final byte ARRAY = 'A';
    static final byte OBJECT = 'O';

    /** The letter and the length. */
    static final int HEAD = 1 + Integer.BYTES;

    private final byte[] bytes;
    private final int length;

    CanonicalJson(byte[] bytes, int length) {
        this.bytes = bytes;
        this.length = length;
    }

    /**
     * @return empty if these are not the bytes of one JSON value in UTF-8, or if it goes beyond what is worth reading:
     *     nested deeper than 100, numbers longer than 1,000 characters
     * @throws ProblemException if an object has two members of one name: readers disagree about which one counts
     */
    static Optional<CanonicalJson> of(byte[] body) {
        return JsonReading.read(body);
    }

    /** Adds the whole document. */
    void addTo(Hashing hash) {
        hash.add(bytes, 0, length);
    }

    /** Adds what the pointer leads to; nothing is something else than an empty value. */
    void addTo(Hashing hash, JsonPointer pointer) {
        int at = find(pointer);
        if (at < 0) {
            hash.add(bytes, 0, 0);
        } else {
            hash.add(bytes, at, end(at) - at);
        }
    }

    /** The kind of the value that the pointer leads to; 0 if it leads nowhere. */
    byte kind(JsonPointer pointer) {
        int at = find(pointer);
        return at < 0 ? 0 : bytes[at];
    }

    /** A text as it is, a number in its shortest plain notation; empty for anything else. */
    Optional<String> scalar(JsonPointer pointer) {
        int at = find(pointer);
        if (at < 0 || (bytes[at] != TEXT && bytes[at] != NUMBER)) {
            return Optional.empty();
        }
        String content = new String(bytes, at + HEAD, end(at) - at - HEAD, StandardCharsets.UTF_8);
        return Optional.of(bytes[at] == TEXT ? content : JsonNumbers.plain(content));
    }

    private int find(JsonPointer pointer) {
        int at = 0;
        for (JsonPointer.Token token : pointer.tokens()) {
            at = bytes[at] == OBJECT ? member(at, token.utf8()) : bytes[at] == ARRAY ? item(at, token.index()) : -1;
            if (at < 0) {
                return -1;
            }
        }
        return at;
    }

    private int member(int object, byte[] name) {
        int end = end(object);
        int at = object + HEAD;
        while (at < end) {
            int value = end(at);
            if (Arrays.equals(bytes, at + HEAD, value, name, 0, name.length)) {
                return value;
            }
            at = end(value);
        }
        return -1;
    }

    private int item(int array, int index) {
        int end = end(array);
        int at = array + HEAD;
        for (int i = 0; i < index && at < end; i++) {
            at = end(at);
        }
        return index < 0 || at >= end ? -1 : at;
    }

    /** Where the value that begins there ends. */
    private int end(int at) {
        return switch (bytes[at]) {
            case TRUE, FALSE, NULL -> at + 1;
            default -> at + HEAD + Bytes.intAt(bytes, at + 1);
        };
    }
}
