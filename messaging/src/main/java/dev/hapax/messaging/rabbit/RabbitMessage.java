package dev.hapax.messaging.rabbit;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Envelope;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message as RabbitMQ delivered it. The body is not copied: who reads it must leave it as it is.
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

    /** A header's value as text, if there is one of that name. */
    public @Nullable String header(String name) {
        Map<String, Object> headers = properties.getHeaders();
        Object value = headers == null ? null : headers.get(name);
        return value == null ? null : value.toString();
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
