package dev.hapax.postgres.outbox;

import dev.hapax.outbox.OutboxMessage;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The message of a row, which may have been edited by hand or written by a newer version.
 *
 * @param unreadable why the row is no valid message, or {@code null}; {@link #message} then has the row's id, its body
 *     and, if that is valid, its topic
 */
record MessageRow(OutboxMessage message, @Nullable String unreadable) {
    private static final String NO_TOPIC = "(unreadable)";

    static MessageRow read(ResultSet row) throws SQLException {
        UUID id = row.getObject("id", UUID.class);
        String topic = row.getString("topic");
        String aggregate = row.getString("aggregate");
        String headers = row.getString("headers");
        byte[] body = row.getBytes("body");
        try {
            return new MessageRow(new OutboxMessage(id, topic, aggregate, Headers.read(headers), body), null);
        } catch (RuntimeException e) {
            return new MessageRow(withoutDetails(id, topic, body), "the row cannot be read: " + e);
        }
    }

    private static OutboxMessage withoutDetails(UUID id, String topic, byte[] body) {
        try {
            return OutboxMessage.to(topic, body).id(id);
        } catch (RuntimeException e) {
            return OutboxMessage.to(NO_TOPIC, body).id(id);
        }
    }
}
