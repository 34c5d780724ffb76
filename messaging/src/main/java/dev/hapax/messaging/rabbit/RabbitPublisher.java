package dev.hapax.messaging.rabbit;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.ConnectionFactory;
import dev.hapax.messaging.internal.CompletionErrors;
import dev.hapax.messaging.rabbit.ConfirmedSender.Letter;
import dev.hapax.outbox.OutboxMessage;
import dev.hapax.outbox.Outgoing;
import dev.hapax.outbox.PublishResult;
import dev.hapax.outbox.Publisher;
import java.io.IOException;
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
import org.jspecify.annotations.Nullable;

/**
 * Publishes an outbox's messages to RabbitMQ. A message's id is its {@code message-id} property, its topic is the
 * routing key. It counts as published once the broker has confirmed that a queue has it; one that no queue took stays
 * in the outbox. A message that would close the channel is refused, because it would fail the messages in flight with
 * it: a topic or a content type of more than 255 bytes, headers of more than 128 KiB, a body above {@code maxBodySize}.
 *
 * <p>Keeps one connection, opened when it is first needed and again when it broke. Safe for use by many threads.
 */
public final class RabbitPublisher implements Publisher, AutoCloseable {
    private static final Duration CONFIRM_TIMEOUT = Duration.ofSeconds(15);
    private static final String CONTENT_TYPE = "content-type";
    private static final int LONGEST_ROUTING_KEY = 255;

    /** RabbitMQ's default for {@code frame_max}: a message's properties must fit into one frame. */
    private static final int MAX_FRAME_SIZE = 128 * 1024;

    /** RabbitMQ's default for {@code max_message_size} since 4.0. */
    private static final int DEFAULT_MAX_BODY_SIZE = 16 * 1024 * 1024;

    private final ConfirmedSender sender;
    private final String exchange;
    private final int maxBodySize;

    private RabbitPublisher(RabbitConnections connections, String exchange, int maxBodySize) {
        this.sender = new ConfirmedSender(connections, CONFIRM_TIMEOUT);
        this.exchange = Objects.requireNonNull(exchange, "exchange");
        this.maxBodySize = maxBodySize;
    }

    /** Publishes to an exchange, with the topic as routing key. */
    public static RabbitPublisher toExchange(ConnectionFactory factory, String exchange) {
        return toExchange(RabbitConnections.of(factory), exchange);
    }

    public static RabbitPublisher toExchange(RabbitConnections connections, String exchange) {
        return toExchange(connections, exchange, DEFAULT_MAX_BODY_SIZE);
    }

    /**
     * @param maxBodySize the broker's {@code max_message_size}, in bytes. A larger message is refused here, because the
     *     broker would close the channel and fail the messages in flight as well. Default: 16 MiB, as in RabbitMQ 4
     */
    public static RabbitPublisher toExchange(RabbitConnections connections, String exchange, int maxBodySize) {
        return new RabbitPublisher(connections, exchange, maxBodySize);
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
        BasicProperties properties = properties(outgoing);
        String refusal = refusal(message, properties);
        if (refusal != null) {
            return CompletableFuture.completedFuture(PublishResult.refused(refusal));
        }
        return sender.send(new Letter(exchange, message.topic(), properties, message.body()))
                .orTimeout(outgoing.timeout().toMillis(), TimeUnit.MILLISECONDS) // then it is not sent any more
                .handle((confirmed, error) -> error == null
                        ? PublishResult.published()
                        : PublishResult.failed(CompletionErrors.cause(error)));
    }

    /** Why the client or the broker would close the channel, which fails the messages in flight as well. */
    private @Nullable String refusal(OutboxMessage message, BasicProperties properties) {
        int length = message.topic().getBytes(StandardCharsets.UTF_8).length;
        if (length > LONGEST_ROUTING_KEY) {
            return "the topic has %d bytes; a routing key has at most %d".formatted(length, LONGEST_ROUTING_KEY);
        }
        if (message.body().length > maxBodySize) {
            return "the body has %d bytes; maxBodySize is %d".formatted(message.body().length, maxBodySize);
        }
        try {
            int frame = properties.toFrame(0, message.body().length).size();
            return frame <= MAX_FRAME_SIZE
                    ? null
                    : "the headers have %d bytes; a frame has at most %d".formatted(frame, MAX_FRAME_SIZE);
        } catch (IOException | IllegalArgumentException e) { // a content type of more than 255 bytes, for one
            return "the headers cannot be sent: " + e.getMessage();
        }
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
