package dev.hapax.outbox;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

/**
 * One attempt to publish a message of an outbox.
 *
 * @param createdAt when it was appended, on the database's clock
 * @param attempt 1, 2, 3…
 * @param timeout how long the relay waits for the result, from its call of {@link Publisher#publish} on. Then it counts
 *     the attempt as failed and tries again, so a publisher that has not sent the message by then must not send it
 */
public record Outgoing(OutboxMessage message, Instant createdAt, int attempt, Duration timeout) {

    /** Headers with this prefix are set by publishers and cannot be appended. */
    public static final String RESERVED = "hapax-";

    /** The header or attribute that carries {@link OutboxMessage#id()}, where a broker has no better place for it. */
    public static final String ID_HEADER = RESERVED + "id";

    /** The header or attribute that carries {@link OutboxMessage#aggregate()}, where a broker has no better place. */
    public static final String AGGREGATE_HEADER = RESERVED + "aggregate";

    public Outgoing {
        Objects.requireNonNull(message, "message");
        Objects.requireNonNull(createdAt, "createdAt");
        Objects.requireNonNull(timeout, "timeout");
        if (attempt < 1) {
            throw new IllegalArgumentException("attempt is " + attempt + "; the first one is 1");
        }
    }
}
