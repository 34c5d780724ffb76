package dev.hapax.outbox;

import java.time.Instant;
import java.util.Objects;

/**
 * A message on its way from an outbox to a broker.
 *
 * @param message what was appended
 * @param createdAt when it was appended, on the database's clock
 * @param attempt 1, 2, 3…: how often it was tried, this time included
 */
public record Outgoing(OutboxMessage message, Instant createdAt, int attempt) {

    /** Headers that begin so are set by publishers and cannot be appended. */
    public static final String RESERVED = "hapax-";

    /** The header or attribute that carries {@link OutboxMessage#id()}, where a broker has no better place for it. */
    public static final String ID_HEADER = RESERVED + "id";

    /** The header or attribute that carries {@link OutboxMessage#aggregate()}, where a broker has no better place. */
    public static final String AGGREGATE_HEADER = RESERVED + "aggregate";

    public Outgoing {
        Objects.requireNonNull(message, "message");
        Objects.requireNonNull(createdAt, "createdAt");
        if (attempt < 1) {
            throw new IllegalArgumentException("attempt is " + attempt + "; the first one is 1");
        }
    }
}
