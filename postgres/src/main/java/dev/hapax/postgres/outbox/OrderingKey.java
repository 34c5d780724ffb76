package dev.hapax.postgres.outbox;

import dev.hapax.outbox.OutboxMessage;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.UUID;

/**
 * Computes ordering keys: messages with the same key are published one after the other, in the order of their appends.
 * A key is 64 bits of a hash of topic and aggregate. It is computed here and not by PostgreSQL, whose hash functions
 * may change between versions. If two aggregates share a key by chance, they wait for each other; nothing else happens.
 */
final class OrderingKey {

    /**
     * The number of advisory locks that serialize appends. The server's lock table is small and shared: however many
     * aggregates one transaction appends to, it takes no more locks than this.
     */
    static final int LOCKS = 1024;

    private OrderingKey() {}

    static long of(OutboxMessage message) {
        String aggregate = message.aggregate();
        return aggregate == null ? unordered(message.id()) : of(message.topic(), aggregate);
    }

    static long of(String topic, String aggregate) {
        byte[] first = topic.getBytes(StandardCharsets.UTF_8);
        byte[] second = aggregate.getBytes(StandardCharsets.UTF_8);
        MessageDigest digest = sha256();
        digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(first.length).array());
        digest.update(first);
        return ByteBuffer.wrap(digest.digest(second)).getLong();
    }

    /** The key of a message without an aggregate: it shares it with no other message. */
    static long unordered(UUID id) {
        byte[] bytes = ByteBuffer.allocate(2 * Long.BYTES)
                .putLong(id.getMostSignificantBits())
                .putLong(id.getLeastSignificantBits())
                .array();
        return ByteBuffer.wrap(sha256().digest(bytes)).getLong();
    }

    /** The number of the advisory lock that appends with this key take. */
    static int lock(long orderingKey) {
        return (int) (orderingKey & (LOCKS - 1));
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
