package dev.hapax.messaging.rabbit;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Envelope;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message as RabbitMQ delivered it. The body is not copied: callers must not change it.
 *
 * @param exchange where it was published to; empty for the default exchange
 * @param redelivered whether the broker may have delivered it before
 */
@SuppressWarnings("ArrayRecordComponent") // a delivery is itself and equal to nothing else
public record RabbitMessage(
        String exchange, String routingKey, boolean redelivered, BasicProperties properties, byte[] body) {

    static RabbitMessage of(Envelope envelope, BasicProperties properties, byte[] body) {
        return new RabbitMessage(
                envelope.getExchange(), envelope.getRoutingKey(), envelope.isRedeliver(), properties, body);
    }

    /** The {@code message-id} property, if its sender set one. */
    public @Nullable String messageId() {
        return properties.getMessageId();
    }

    /**
     * A header's value as text: text and bytes as UTF-8, numbers in decimal digits, booleans.
     *
     * @return {@code null} if there is no header of that name
     * @throws IllegalArgumentException when it is something else, such as a list, or not UTF-8; as a key, it makes the
     *     consumer reject the message
     */
    public @Nullable String header(String name) {
        Map<String, Object> headers = properties.getHeaders();
        Object value = headers == null ? null : headers.get(name);
        return value == null ? null : HeaderText.of(name, value);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(this);
    }

    @Override
    public String toString() {
        return "RabbitMessage[id %s, exchange \"%s\", routing key \"%s\", %d bytes]"
                .formatted(messageId(), exchange, routingKey, body.length);
    }
}
