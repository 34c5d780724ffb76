package dev.hapax.bench;

import java.util.HexFormat;
import java.util.Random;

/**
 * What is stored: random bytes, the same in every run, because PostgreSQL would compress large bodies of zeros away.
 */
final class Payload {
    private static final long SEED = 42;

    private Payload() {}

    static byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        new Random(SEED).nextBytes(bytes);
        return bytes;
    }

    static String hex(int length) {
        return HexFormat.of().formatHex(bytes(length));
    }
}
