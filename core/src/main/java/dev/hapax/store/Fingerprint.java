package dev.hapax.store;

import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * The 32-byte digest of the request that first used a key. Immutable; compared in constant time.
 *
 * <p>The same key with another fingerprint is another request: it never runs and never sees the stored result.
 */
public final class Fingerprint {
    private static final int LENGTH = 32;

    /** The fingerprint of calls that give none: all of them are the same request. */
    public static final Fingerprint NONE = of(new byte[0]);

    private final byte[] digest;

    private Fingerprint(byte[] digest) {
        this.digest = digest;
    }

    /** The SHA-256 of a request's bytes. */
    public static Fingerprint of(byte[] request) {
        return new Fingerprint(Digests.sha256().digest(request));
    }

    /**
     * A digest that was computed elsewhere, for example a keyed one.
     *
     * @throws IllegalArgumentException unless it has 32 bytes
     */
    public static Fingerprint ofDigest(byte[] digest) {
        if (digest.length != LENGTH) {
            throw new IllegalArgumentException(
                    "a fingerprint has " + LENGTH + " bytes, this digest has " + digest.length);
        }
        return new Fingerprint(digest.clone());
    }

    public byte[] digest() {
        return digest.clone();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Fingerprint that && MessageDigest.isEqual(digest, that.digest);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(digest);
    }

    @Override
    public String toString() {
        return HexFormat.of().formatHex(digest);
    }
}
