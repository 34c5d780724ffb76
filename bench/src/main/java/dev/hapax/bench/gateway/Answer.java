package dev.hapax.bench.gateway;

import java.nio.charset.StandardCharsets;

/** One response as its bytes come in: HTTP/1.1 with a length. Reads as little of it as will do. */
final class Answer {
    private static final String LENGTH = "content-length: ";
    private static final String REPLAYED = "idempotent-replayed: true";
    private static final int STATUS_AT = "HTTP/1.1 ".length();

    private final byte[] bytes = new byte[16 << 10];
    private int read;
    private int end;

    byte[] bytes() {
        return bytes;
    }

    int read() {
        return read;
    }

    /** Begins anew. */
    void clear() {
        read = 0;
        end = 0;
    }

    /**
     * Takes so many more bytes.
     *
     * @return whether it is complete
     */
    boolean add(int count) {
        int from = Math.max(0, read - 3);
        read += count;
        if (end == 0) {
            int head = endOfHead(from);
            if (head < 0) {
                return false;
            }
            end = head + length(head);
        }
        if (read > end) {
            throw new IllegalStateException("there is more than one response: " + text(read));
        }
        return read == end;
    }

    /** @throws IllegalStateException unless it is what was asked for */
    void require(int status, boolean replayed) {
        boolean asExpected = bytes[STATUS_AT] - '0' == status / 100
                && bytes[STATUS_AT + 1] - '0' == status / 10 % 10
                && bytes[STATUS_AT + 2] - '0' == status % 10
                && lineAfter(REPLAYED, end) >= 0 == replayed;
        if (!asExpected) {
            throw new IllegalStateException(
                    "expected %d%s, got: %s".formatted(status, replayed ? ", replayed" : "", text(read)));
        }
    }

    private int endOfHead(int from) {
        for (int i = from; i + 3 < read; i++) {
            if (bytes[i] == '\r' && bytes[i + 1] == '\n' && bytes[i + 2] == '\r' && bytes[i + 3] == '\n') {
                return i + 4;
            }
        }
        return -1;
    }

    private int length(int head) {
        int at = lineAfter(LENGTH, head);
        if (at < 0) {
            throw new IllegalStateException("a response without a length: " + text(head));
        }
        int length = 0;
        for (; bytes[at] != '\r'; at++) {
            length = 10 * length + bytes[at] - '0';
        }
        return length;
    }

    /** Where it goes on after a line of the head that begins like this, in letters of either case; -1 if none does. */
    private int lineAfter(String lowerCase, int head) {
        for (int i = 0; i + 2 + lowerCase.length() <= head; i++) {
            if (bytes[i] == '\n' && begins(lowerCase, i + 1)) {
                return i + 1 + lowerCase.length();
            }
        }
        return -1;
    }

    private boolean begins(String lowerCase, int at) {
        for (int i = 0; i < lowerCase.length(); i++) {
            int c = bytes[at + i];
            if ((c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c) != lowerCase.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    private String text(int length) {
        return new String(bytes, 0, length, StandardCharsets.UTF_8).strip();
    }
}
