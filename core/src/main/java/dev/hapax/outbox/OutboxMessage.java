package dev.hapax.outbox;

import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A message that is appended to an outbox. An immutable value: every setter returns another message.
 *
 * <pre>{@code
 * OutboxMessage.to("orders", json).aggregate("order-42").header("type", "OrderPlaced")
 * }</pre>
 *
 * <p>The body is not copied and must not be changed.
 *
 * @param id the same on every delivery, so that receivers recognize duplicates
 * @param topic the destination: a topic, a queue, or a name that the publisher maps to a URL; 1–255 characters
 * @param aggregate what the message is about. Messages with the same topic and aggregate are published in the order
 *     they were appended; {@code null} if order does not matter. 1–255 characters
 * @param headers names of letters, digits, {@code _}, {@code -} and {@code .}, values without control characters
 * @param body may be empty
 */
@SuppressWarnings("ArrayRecordComponent") // compared by content below
public record OutboxMessage(
        UUID id, String topic, @Nullable String aggregate, Map<String, String> headers, byte[] body) {
    private static final int LONGEST = 255;

    public OutboxMessage {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(body, "body");
        requireText(topic, "topic");
        if (aggregate != null) {
            requireText(aggregate, "aggregate");
        }
        headers.forEach(OutboxMessage::requireHeader);
        headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }

    /** A message with a new random id, no aggregate and no headers. */
    public static OutboxMessage to(String topic, byte[] body) {
        return new OutboxMessage(UUID.randomUUID(), topic, null, Map.of(), body);
    }

    /** Sets the id, for callers that have one which is stable over their own retries. */
    public OutboxMessage id(UUID id) {
        return new OutboxMessage(id, topic, aggregate, headers, body);
    }

    /** Sets what the message is about: the messages of one topic and aggregate are published in order. */
    public OutboxMessage aggregate(String aggregate) {
        return new OutboxMessage(id, topic, Objects.requireNonNull(aggregate, "aggregate"), headers, body);
    }

    /** Adds a header, or replaces it. */
    public OutboxMessage header(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new OutboxMessage(id, topic, aggregate, more, body);
    }

    private static void requireHeader(String name, String value) {
        requireText(name, "the name of a header");
        boolean plain = name.chars()
                .allMatch(c -> c < 128 && (Character.isLetterOrDigit(c) || c == '_' || c == '-' || c == '.'));
        if (!plain) {
            throw new IllegalArgumentException(
                    "header \"%s\": a name is made of letters, digits, _, - and . only".formatted(name));
        }
        if (name.startsWith(Outgoing.RESERVED)) {
            throw new IllegalArgumentException(
                    "header \"%s\": names that begin with %s are ours".formatted(name, Outgoing.RESERVED));
        }
        if (value.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException("header \"%s\" has a control character in its value".formatted(name));
        }
    }

    private static void requireText(String text, String name) {
        if (text.isEmpty() || text.length() > LONGEST || text.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException(
                    "%s is %d characters long or has control characters; 1 to %d others are needed"
                            .formatted(name, text.length(), LONGEST));
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof OutboxMessage that
                && id.equals(that.id)
                && topic.equals(that.topic)
                && Objects.equals(aggregate, that.aggregate)
                && headers.equals(that.headers)
                && Arrays.equals(body, that.body);
    }

    @Override
    public int hashCode() {
        return id.hashCode();
    }

    @Override
    public String toString() {
        return "OutboxMessage[%s to %s, aggregate %s, %d bytes]".formatted(id, topic, aggregate, body.length);
    }
}
