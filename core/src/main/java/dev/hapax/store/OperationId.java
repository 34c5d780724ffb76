package dev.hapax.store;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.UUID;

/**
 * The primary key of an operation, everywhere: 128 bits of SHA-256 over tenant, scope and key.
 *
 * <p>Each part is prefixed with its length, so that {@code a|bc} and {@code ab|c} are two operations.
 */
public record OperationId(UUID value) implements Comparable<OperationId> {

    public static OperationId of(OperationKey key) {
        MessageDigest digest = Digests.sha256();
        add(digest, key.tenant());
        add(digest, key.scope());
        add(digest, key.key());
        ByteBuffer bytes = ByteBuffer.wrap(digest.digest());
        return new OperationId(new UUID(bytes.getLong(), bytes.getLong()));
    }

    private static void add(MessageDigest digest, String part) {
        byte[] bytes = part.getBytes(StandardCharsets.UTF_8);
        for (int shift = 24; shift >= 0; shift -= 8) {
            digest.update((byte) (bytes.length >>> shift));
        }
        digest.update(bytes);
    }

    @Override
    public int compareTo(OperationId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value.toString();
    }
}
