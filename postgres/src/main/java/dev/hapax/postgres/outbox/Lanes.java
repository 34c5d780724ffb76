package dev.hapax.postgres.outbox;

import dev.hapax.outbox.OutboxMessage;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.UUID;

/**
 * Which messages are published in order: those of one lane. A lane is a number, 64 bits of a hash; computed here and
 * not by PostgreSQL, whose hash functions may change from one version to the next. Two aggregates that share one by
 * chance wait for each other, and that is all.
 */
final class Lanes {

    /**
     * How many locks keep appends of one lane apart. The server's lock table is small and shared by all: however many
     * aggregates one transaction appends to, it takes no more locks than this.
     */
    static final int LOCKS = 1024;

    private Lanes() {}

    static long of(OutboxMessage message) {
        String aggregate = message.aggregate();
        return aggregate == null ? ofItsOwn(message.id()) : of(message.topic(), aggregate);
    }

    static long of(String topic, String aggregate) {
        byte[] first = topic.getBytes(StandardCharsets.UTF_8);
        byte[] second = aggregate.getBytes(StandardCharsets.UTF_8);
        MessageDigest digest = sha256();
        digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(first.length).array());
        digest.update(first);
        return ByteBuffer.wrap(digest.digest(second)).getLong();
    }

    /** A lane that the message shares with nobody. */
    static long ofItsOwn(UUID id) {
        byte[] bytes = ByteBuffer.allocate(2 * Long.BYTES)
                .putLong(id.getMostSignificantBits())
                .putLong(id.getLeastSignificantBits())
                .array();
        return ByteBuffer.wrap(sha256().digest(bytes)).getLong();
    }

    static int lock(long lane) {
        return (int) (lane & (LOCKS - 1));
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
