package dev.hapax.http;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/** A SHA-256 in the making, keyed where there is a secret. What is added is prefixed with its length. */
final class Hashing {
    private static final String KEYED = "HmacSHA256";

    private final @Nullable MessageDigest plain;
    private final @Nullable Mac keyed;

    private Hashing(@Nullable MessageDigest plain, @Nullable Mac keyed) {
        this.plain = plain;
        this.keyed = keyed;
    }

    /** @param secret empty for a plain hash */
    static Hashing with(byte[] secret) {
        try {
            if (secret.length == 0) {
                return new Hashing(MessageDigest.getInstance("SHA-256"), null);
            }
            Mac mac = Mac.getInstance(KEYED);
            mac.init(new SecretKeySpec(secret, KEYED));
            return new Hashing(null, mac);
        } catch (GeneralSecurityException e) {
            throw new AssertionError("every Java platform has SHA-256 and " + KEYED, e);
        }
    }

    Hashing add(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return add(bytes, 0, bytes.length);
    }

    Hashing add(byte[] bytes, int from, int length) {
        return addRaw(ByteBuffer.allocate(Integer.BYTES).putInt(length).array(), 0, Integer.BYTES)
                .addRaw(bytes, from, length);
    }

    private Hashing addRaw(byte[] bytes, int from, int length) {
        if (plain != null) {
            plain.update(bytes, from, length);
        } else if (keyed != null) {
            keyed.update(bytes, from, length);
        }
        return this;
    }

    /** Ends it. */
    byte[] digest() {
        if (plain != null) {
            return plain.digest();
        }
        return java.util.Objects.requireNonNull(keyed).doFinal();
    }

    String hex() {
        return HexFormat.of().formatHex(digest());
    }
}
