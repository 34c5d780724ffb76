package dev.hapax.http;

import java.util.Arrays;

/** Bytes that grow. Not safe for use by many threads. */
final class Bytes {
    private static final int MOST = Integer.MAX_VALUE - 8;

    private byte[] array;
    private int length;

    Bytes(int expected) {
        array = new byte[Math.max(16, expected)];
    }

    byte[] array() {
        return array;
    }

    int length() {
        return length;
    }

    void clear() {
        length = 0;
    }

    Bytes put(int value) {
        reserve(1);
        array[length++] = (byte) value;
        return this;
    }

    Bytes putInt(int value) {
        reserve(Integer.BYTES);
        length += Integer.BYTES;
        setInt(length - Integer.BYTES, value);
        return this;
    }

    void setInt(int at, int value) {
        array[at] = (byte) (value >>> 24);
        array[at + 1] = (byte) (value >>> 16);
        array[at + 2] = (byte) (value >>> 8);
        array[at + 3] = (byte) value;
    }

    static int intAt(byte[] array, int at) {
        return array[at] << 24 | (array[at + 1] & 0xFF) << 16 | (array[at + 2] & 0xFF) << 8 | (array[at + 3] & 0xFF);
    }

    /** Text with the length of its UTF-8 before it; half a surrogate pair becomes three bytes of its own. */
    Bytes putText(String text) {
        int at = beginText(text.length());
        int next = at;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < 0x80) {
                array[next++] = (byte) c;
            } else {
                char after = i + 1 < text.length() ? text.charAt(i + 1) : 0;
                next = putWide(next, c, after);
                i += isPair(c, after) ? 1 : 0;
            }
        }
        return endText(at, next);
    }

    Bytes putText(char[] text, int from, int count) {
        int at = beginText(count);
        int next = at;
        int end = from + count;
        for (int i = from; i < end; i++) {
            char c = text[i];
            if (c < 0x80) {
                array[next++] = (byte) c;
            } else {
                char after = i + 1 < end ? text[i + 1] : 0;
                next = putWide(next, c, after);
                i += isPair(c, after) ? 1 : 0;
            }
        }
        return endText(at, next);
    }

    /** No character takes more than three bytes, and no pair more than four. */
    private int beginText(int characters) {
        reserve(Integer.BYTES + 3L * characters);
        return length + Integer.BYTES;
    }

    private Bytes endText(int from, int to) {
        setInt(from - Integer.BYTES, to - from);
        length = to;
        return this;
    }

    private static boolean isPair(char c, char after) {
        return Character.isHighSurrogate(c) && Character.isLowSurrogate(after);
    }

    /** @return where the next one goes */
    private int putWide(int at, char c, char after) {
        int next = at;
        if (c < 0x800) {
            array[next++] = (byte) (0xC0 | (c >> 6));
        } else if (isPair(c, after)) {
            int point = Character.toCodePoint(c, after);
            array[next++] = (byte) (0xF0 | (point >> 18));
            array[next++] = tail(point >> 12);
            array[next++] = tail(point >> 6);
            array[next++] = tail(point);
            return next;
        } else {
            array[next++] = (byte) (0xE0 | (c >> 12));
            array[next++] = tail(c >> 6);
        }
        array[next++] = tail(c);
        return next;
    }

    private static byte tail(int bits) {
        return (byte) (0x80 | (bits & 0x3F));
    }

    private void reserve(long more) {
        long needed = length + more;
        if (needed > array.length) {
            if (needed > MOST) {
                throw new OutOfMemoryError("more than 2 GiB");
            }
            array = Arrays.copyOf(array, (int) Math.min(MOST, Math.max(needed, 2L * array.length)));
        }
    }
}
