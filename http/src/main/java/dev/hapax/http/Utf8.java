package dev.hapax.http;

/** UTF-8 as the standard has it: no overlong forms, no surrogates, nothing above U+10FFFF. */
final class Utf8 {
    private Utf8() {}

    static boolean isValid(byte[] bytes) {
        int i = 0;
        while (i < bytes.length) {
            if (bytes[i] >= 0) {
                i++;
                continue;
            }
            int length = lengthAt(bytes, i);
            if (length == 0) {
                return false;
            }
            i += length;
        }
        return true;
    }

    /** The length of the sequence of several bytes that begins there; 0 if none does. */
    private static int lengthAt(byte[] bytes, int at) {
        int lead = bytes[at] & 0xFF;
        int length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
        if (lead < 0xC2 || lead > 0xF4 || at + length > bytes.length) {
            return 0;
        }
        int second = bytes[at + 1] & 0xFF;
        int least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
        int most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
        if (second < least || second > most) {
            return 0;
        }
        for (int i = at + 2; i < at + length; i++) {
            if ((bytes[i] & 0xC0) != 0x80) {
                return 0;
            }
        }
        return length;
    }
}
