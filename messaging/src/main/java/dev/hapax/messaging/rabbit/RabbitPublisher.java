package dev.hapax.messaging.rabbit;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.ConnectionFactory;
import dev.hapax.messaging.internal.CompletionErrors;
import dev.hapax.messaging.rabbit.ConfirmedSender.Letter;
import dev.hapax.outbox.OutboxMessage;
import dev.hapax.outbox.Outgoing;
import dev.hapax.outbox.PublishResult;
import dev.hapax.outbox.Publisher;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/**
 * Publishes an outbox's messages to RabbitMQ. A message's id is its {@code message-id} property, its topic is the
 * routing key. It counts as published once the broker has confirmed that a queue has it; one that no queue took stays
 * in the outbox.
 *
 * <p>Keeps one connection, opened when it is first needed and again when it broke. Safe for use by many threads.
 */
public final class RabbitPublisher implements Publisher, AutoCloseable {
    private static final Duration CONFIRM_TIMEOUT = Duration.ofSeconds(15);
    private static final String CONTENT_TYPE = "content-type";
    private static final int LONGEST_ROUTING_KEY = 255;

    private final ConfirmedSender sender;
    private final String exchange;

    private RabbitPublisher(RabbitConnections connections, String exchange) {
        this.sender = new ConfirmedSender(connections, CONFIRM_TIMEOUT);
        this.exchange = Objects.requireNonNull(exchange, "exchange");
    }

    /** Publishes to an exchange, with the topic as routing key. */
    public static RabbitPublisher toExchange(ConnectionFactory factory, String exchange) {
        return toExchange(RabbitConnections.of(factory), exchange);
    }

    public static RabbitPublisher toExchange(RabbitConnections connections, String exchange) {
        return new RabbitPublisher(connections, exchange);
    }

    /** Publishes to queues: the topic is the queue. */
    public static RabbitPublisher toQueues(ConnectionFactory factory) {
        return toExchange(factory, "");
    }

    @Override
    public List<CompletionStage<PublishResult>> publish(List<Outgoing> messages) {
        return messages.stream().map(this::publish).toList();
    }

    private CompletionStage<PublishResult> publish(Outgoing outgoing) {
        OutboxMessage message = outgoing.message();
        int length = message.topic().getBytes(StandardCharsets.UTF_8).length;
        if (length > LONGEST_ROUTING_KEY) {
            return CompletableFuture.completedFuture(PublishResult.refused(
                    "the topic has %d bytes; a routing key has at most %d".formatted(length, LONGEST_ROUTING_KEY)));
        }
        return sender.send(new Letter(exchange, message.topic(), properties(outgoing), message.body()))
                .orTimeout(outgoing.timeout().toMillis(), TimeUnit.MILLISECONDS) // then it is not sent any more
                .handle((confirmed, error) -> error == null
                        ? PublishResult.published()
                        : PublishResult.failed(CompletionErrors.cause(error)));
    }

    private static BasicProperties properties(Outgoing outgoing) {
        OutboxMessage message = outgoing.message();
        Map<String, Object> headers = new HashMap<>(message.headers());
        if (message.aggregate() != null) {
            headers.put(Outgoing.AGGREGATE_HEADER, message.aggregate());
        }
        return new BasicProperties.Builder()
                .messageId(message.id().toString())
                .timestamp(Date.from(outgoing.createdAt()))
                .contentType(message.headers().get(CONTENT_TYPE))
                .deliveryMode(2)
                .headers(headers)
                .build();
    }

    /** What is not confirmed by now counts as failed. Closing twice does nothing. */
    @Override
    public void close() {
        sender.close();
    }
}
