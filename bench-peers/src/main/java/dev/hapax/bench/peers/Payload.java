package dev.hapax.bench.peers;

import java.util.Base64;
import java.util.HexFormat;
import java.util.Random;

/**
 * What all sides send and store: random, the same in every run. PostgreSQL compresses large values that repeat
 * themselves, so that a side would be measured with less than it was given.
 */
public final class Payload {
    private static final long SEED = 42;

    private Payload() {}

    public static byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        new Random(SEED).nextBytes(bytes);
        return bytes;
    }

    /** For SQL. */
    public static String hex(int length) {
        return HexFormat.of().formatHex(bytes(length));
    }

    /** So many letters and digits, for results that are text. */
    public static String text(int length) {
        return Base64.getUrlEncoder().encodeToString(bytes(length)).substring(0, length);
    }
}
