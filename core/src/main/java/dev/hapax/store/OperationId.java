package dev.hapax.store;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/**
 * The primary key of an operation, everywhere: 128 bits of SHA-256 over tenant, scope and key.
 *
 * <p>Each part is prefixed with its length, so that {@code a|bc} and {@code ab|c} are two operations.
 */
public record OperationId(UUID value) implements Comparable<OperationId> {

    public static OperationId of(OperationKey key) {
        byte[] tenant = key.tenant().getBytes(StandardCharsets.UTF_8);
        byte[] scope = key.scope().getBytes(StandardCharsets.UTF_8);
        byte[] name = key.key().getBytes(StandardCharsets.UTF_8);
        ByteBuffer parts = ByteBuffer.allocate(3 * Integer.BYTES + tenant.length + scope.length + name.length)
                .putInt(tenant.length)
                .put(tenant)
                .putInt(scope.length)
                .put(scope)
                .putInt(name.length)
                .put(name);
        ByteBuffer digest = ByteBuffer.wrap(Digests.sha256().digest(parts.array()));
        return new OperationId(new UUID(digest.getLong(), digest.getLong()));
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
