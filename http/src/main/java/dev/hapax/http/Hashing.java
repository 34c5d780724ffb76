package dev.hapax.http;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Objects;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/** A SHA-256 in the making, keyed where there is a secret. What is added is prefixed with its length. */
final class Hashing {
    private static final String KEYED = "HmacSHA256";

    private final @Nullable MessageDigest plain;
    private final @Nullable Mac keyed;
    private final Bytes buffer = new Bytes(256);

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

    /** A number of its own, to tell kinds apart. */
    Hashing add(int number) {
        buffer.putInt(number);
        return this;
    }

    Hashing add(String text) {
        buffer.putText(text);
        return this;
    }

    Hashing add(byte[] bytes, int from, int length) {
        buffer.putInt(length);
        flush();
        update(bytes, from, length);
        return this;
    }

    private void flush() {
        update(buffer.array(), 0, buffer.length());
        buffer.clear();
    }

    private void update(byte[] bytes, int from, int length) {
        if (plain != null) {
            plain.update(bytes, from, length);
        } else {
            Objects.requireNonNull(keyed).update(bytes, from, length);
        }
    }

    /** Ends it. */
    byte[] digest() {
        flush();
        return plain != null ? plain.digest() : Objects.requireNonNull(keyed).doFinal();
    }

    String hex() {
        return HexFormat.of().formatHex(digest());
    }
}
