package dev.hapax.messaging.rabbit;

import com.rabbitmq.client.AMQP.BasicProperties;
import dev.hapax.messaging.internal.DeadLetterReason;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Where rejected messages go. */
public final class DeadLetters {
    public static final String REASON = "hapax-dead-letter-reason";
    public static final String CONSUMER = "hapax-dead-letter-consumer";
    public static final String EXCHANGE = "hapax-dead-letter-exchange";
    public static final String ROUTING_KEY = "hapax-dead-letter-routing-key";

    private final @Nullable Address address;

    private DeadLetters(@Nullable Address address) {
        this.address = address;
    }

    /** @param exchange empty for the default exchange */
    record Address(String exchange, String routingKey) {}

    /**
     * Published to an exchange, with headers that say why and from where. The message is acknowledged once the broker
     * has confirmed that a queue has the dead letter; until then it is kept and tried again.
     *
     * @param exchange empty for the default exchange, whose routing keys are queues
     */
    public static DeadLetters toExchange(String exchange, String routingKey) {
        Objects.requireNonNull(exchange, "exchange");
        Objects.requireNonNull(routingKey, "routingKey");
        return new DeadLetters(new Address(exchange, routingKey));
    }

    /** Published to a queue, as {@link #toExchange} does. */
    public static DeadLetters toQueue(String queue) {
        return toExchange("", queue);
    }

    /**
     * Left to the broker: it gives rejected messages to the dead-letter exchange of the queue, and drops them where the
     * queue has none. Why they were rejected is in the log and in the store.
     */
    public static DeadLetters byBroker() {
        return new DeadLetters(null);
    }

    @Nullable
    Address address() {
        return address;
    }

    /** The message's properties, and why it is dead. */
    static BasicProperties properties(RabbitMessage message, String consumer, String reason) {
        Map<String, Object> headers = headers(message);
        headers.put(REASON, DeadLetterReason.truncate(reason));
        headers.put(CONSUMER, consumer);
        headers.put(EXCHANGE, message.exchange());
        headers.put(ROUTING_KEY, message.routingKey());
        return copied(message)
                .headers(headers)
                .expiration(null) // it was meant for the first queue: dead letters wait for an operator
                .build();
    }

    /** The message's properties for a copy of it that lives as long as {@code delay}. */
    static BasicProperties delayed(RabbitMessage message, Duration delay) {
        return copied(message)
                .headers(headers(message))
                .expiration(Long.toString(delay.toMillis()))
                .build();
    }

    /** Without the sender's user, as whom the broker would not let us publish. */
    private static BasicProperties.Builder copied(RabbitMessage message) {
        return message.properties().builder().userId(null).deliveryMode(2);
    }

    /** Without those that make the broker send copies to other queues: these have theirs. */
    private static Map<String, Object> headers(RabbitMessage message) {
        Map<String, Object> headers = new HashMap<>();
        Map<String, Object> before = message.properties().getHeaders();
        if (before != null) {
            headers.putAll(before);
        }
        headers.remove("CC");
        headers.remove("BCC");
        return headers;
    }
}
