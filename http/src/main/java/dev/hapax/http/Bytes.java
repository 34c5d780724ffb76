package dev.hapax.http;

import java.util.Arrays;

/** Bytes that grow. Not safe for use by many threads. */
final class Bytes {
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

    Bytes put(byte[] bytes, int from, int count) {
        reserve(count);
        System.arraycopy(bytes, from, array, length, count);
        length += count;
        return this;
    }

    /** Text with the length of its UTF-8 before it; half a surrogate pair becomes three bytes of its own. */
    Bytes putText(CharSequence text) {
        int at = length;
        putInt(0);
        reserve(text.length());
        for (int i = 0; i < text.length(); i++) {
            i += putCharacter(text.charAt(i), i + 1 < text.length() ? text.charAt(i + 1) : 0);
        }
        setInt(at, length - at - Integer.BYTES);
        return this;
    }

    Bytes putText(char[] text, int from, int count) {
        int at = length;
        putInt(0);
        reserve(count);
        int end = from + count;
        for (int i = from; i < end; i++) {
            i += putCharacter(text[i], i + 1 < end ? text[i + 1] : 0);
        }
        setInt(at, length - at - Integer.BYTES);
        return this;
    }

    /** @return how many characters were taken besides the first */
    private int putCharacter(char c, int next) {
        if (c < 0x80) {
            put(c);
        } else if (c < 0x800) {
            put(0xC0 | (c >> 6)).put(tail(c));
        } else if (Character.isHighSurrogate(c) && Character.isLowSurrogate((char) next)) {
            int point = Character.toCodePoint(c, (char) next);
            put(0xF0 | (point >> 18))
                    .put(tail(point >> 12))
                    .put(tail(point >> 6))
                    .put(tail(point));
            return 1;
        } else {
            put(0xE0 | (c >> 12)).put(tail(c >> 6)).put(tail(c));
        }
        return 0;
    }

    private static int tail(int bits) {
        return 0x80 | (bits & 0x3F);
    }

    private void reserve(int more) {
        if (length + more > array.length) {
            if (length + more < 0) {
                throw new OutOfMemoryError("more than 2 GiB");
            }
            array = Arrays.copyOf(array, Math.max(length + more, (int) Math.min(Integer.MAX_VALUE - 8L, 2L * length)));
        }
    }
}
