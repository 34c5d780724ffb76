package dev.hapax.messaging.kafka;

import dev.hapax.messaging.internal.DeadLetterReason;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;

/** Sends dead letters to a topic: key, value and headers as they were, and headers that say why and from where. */
public final class DeadLetterTopic implements DeadLetters {
    public static final String REASON = "hapax-dead-letter-reason";
    public static final String CONSUMER = "hapax-dead-letter-consumer";
    public static final String TOPIC = "hapax-dead-letter-topic";
    public static final String PARTITION = "hapax-dead-letter-partition";
    public static final String OFFSET = "hapax-dead-letter-offset";

    private final Producer<byte[], byte[]> producer;
    private final UnaryOperator<String> naming;

    DeadLetterTopic(Producer<byte[], byte[]> producer, UnaryOperator<String> naming) {
        this.producer = producer;
        this.naming = naming;
    }

    @Override
    public CompletionStage<?> keep(DeadLetter letter) {
        ConsumerRecord<byte[], byte[]> record = letter.record();
        CompletableFuture<Void> sent = new CompletableFuture<>();
        ProducerRecord<byte[], byte[]> dead =
                new ProducerRecord<>(naming.apply(record.topic()), null, record.key(), record.value(), headers(letter));
        producer.send(dead, (where, error) -> {
            if (error == null) {
                sent.complete(null);
            } else {
                sent.completeExceptionally(error);
            }
        });
        return sent;
    }

    private static Headers headers(DeadLetter letter) {
        ConsumerRecord<byte[], byte[]> record = letter.record();
        Headers headers = new RecordHeaders(record.headers().toArray());
        String reason = letter.reason();
        put(headers, REASON, DeadLetterReason.truncate(reason));
        put(headers, CONSUMER, letter.consumer());
        put(headers, TOPIC, record.topic());
        put(headers, PARTITION, Integer.toString(record.partition()));
        put(headers, OFFSET, Long.toString(record.offset()));
        return headers;
    }

    private static void put(Headers headers, String name, String value) {
        headers.remove(name);
        headers.add(name, value.getBytes(StandardCharsets.UTF_8));
    }
}
