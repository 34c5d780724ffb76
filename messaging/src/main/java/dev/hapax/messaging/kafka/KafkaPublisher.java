package dev.hapax.messaging.kafka;

import dev.hapax.outbox.OutboxMessage;
import dev.hapax.outbox.Outgoing;
import dev.hapax.outbox.PublishResult;
import dev.hapax.outbox.Publisher;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * Publishes an outbox to Kafka: the message's topic is the topic, its aggregate the record's key, its id the header
 * {@link Outgoing#ID_HEADER}, from where {@link KafkaMessages#header} gives it to the consumer on the other side. Safe
 * for use by many threads.
 *
 * <p>A message counts as published when all in-sync replicas have it. Sends happen on a thread of its own, because a
 * producer blocks while it does not know the topic.
 */
public final class KafkaPublisher implements Publisher, AutoCloseable {
    private final Producer<byte[], byte[]> producer;
    private final ThreadPoolExecutor sender;

    private KafkaPublisher(Producer<byte[], byte[]> producer) {
        this.producer = producer;
        this.sender = new ThreadPoolExecutor(1, 1, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
            Thread thread = new Thread(task, "hapax-kafka-publisher");
            thread.setDaemon(true);
            return thread;
        });
        this.sender.allowCoreThreadTimeOut(true);
    }

    /**
     * With the settings of a Kafka producer, such as {@code bootstrap.servers}. Waits for all in-sync replicas,
     * whatever the settings say.
     */
    public static KafkaPublisher of(Map<String, ?> settings) {
        Map<String, Object> ours = new HashMap<>(settings);
        ours.put(ProducerConfig.ACKS_CONFIG, "all");
        ours.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
        return over(new KafkaProducer<>(ours, new ByteArraySerializer(), new ByteArraySerializer()));
    }

    /** @param producer with {@code acks=all}, as is the default; closed with this */
    public static KafkaPublisher over(Producer<byte[], byte[]> producer) {
        return new KafkaPublisher(Objects.requireNonNull(producer, "producer"));
    }

    @Override
    public List<CompletionStage<PublishResult>> publish(List<Outgoing> messages) {
        List<CompletionStage<PublishResult>> results = new ArrayList<>();
        for (Outgoing outgoing : messages) {
            CompletableFuture<PublishResult> result = new CompletableFuture<>();
            results.add(result);
            try {
                sender.execute(() -> send(outgoing.message(), result));
            } catch (RejectedExecutionException closed) {
                result.complete(PublishResult.failed("the publisher is closed"));
            }
        }
        return results;
    }

    private void send(OutboxMessage message, CompletableFuture<PublishResult> result) {
        try {
            producer.send(record(message), (where, error) -> result.complete(resultOf(error)));
        } catch (RuntimeException e) {
            result.complete(resultOf(e));
        }
    }

    private static ProducerRecord<byte[], byte[]> record(OutboxMessage message) {
        String aggregate = message.aggregate();
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>(message.topic(), aggregate == null ? null : bytes(aggregate), message.body());
        message.headers().forEach((name, value) -> record.headers().add(name, bytes(value)));
        record.headers().add(Outgoing.ID_HEADER, bytes(message.id().toString()));
        return record;
    }

    private static PublishResult resultOf(@Nullable Exception error) {
        if (error == null) {
            return PublishResult.published();
        }
        boolean hopeless = error instanceof RecordTooLargeException
                || error instanceof InvalidTopicException
                || error instanceof SerializationException;
        return hopeless ? PublishResult.refused(error.toString()) : PublishResult.failed(error);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Waits for what was sent, and closes the producer. */
    @Override
    public void close() {
        sender.shutdown();
        producer.close();
    }
}
