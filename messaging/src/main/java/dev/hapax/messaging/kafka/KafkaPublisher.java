package dev.hapax.messaging.kafka;

import dev.hapax.outbox.OutboxMessage;
import dev.hapax.outbox.Outgoing;
import dev.hapax.outbox.PublishResult;
import dev.hapax.outbox.Publisher;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * Publishes an outbox to Kafka: the message's topic is the topic, its aggregate the record's key, its id the header
 * {@link Outgoing#ID_HEADER}, which {@link KafkaMessages#header} gives to the consumer on the other side. Safe for use
 * by many threads.
 *
 * <p>A message counts as published when all in-sync replicas have it. A topic that does not exist, or whose sends block
 * for another reason, delays its own messages only. A message that waited for so long that the producer might deliver
 * it after {@link Outgoing#timeout()} is not sent: the relay has given up on this attempt by then and makes another
 * one.
 */
public final class KafkaPublisher implements Publisher, AutoCloseable {
    private static final Duration DEFAULT_PUBLISH_TIMEOUT = Duration.ofSeconds(10);
    private static final long DEFAULT_LINGER = 5;

    private final Producer<byte[], byte[]> producer;
    private final Duration longestSend;
    private final TopicQueues queues = new TopicQueues("hapax-kafka-publisher", Integer.MAX_VALUE);

    private KafkaPublisher(Producer<byte[], byte[]> producer, Duration longestSend) {
        this.producer = producer;
        this.longestSend = longestSend;
    }

    /** For a relay with the default {@code publishTimeout} of 10 s; otherwise like {@link #of(Map, Duration)}. */
    public static KafkaPublisher of(Map<String, ?> settings) {
        return of(settings, DEFAULT_PUBLISH_TIMEOUT);
    }

    /**
     * Creates a producer with these settings, such as {@code bootstrap.servers}, with two exceptions. It always waits
     * for all in-sync replicas. And it gives up before the relay does, so that a message is not delivered late, after
     * the relay has sent it again: {@code max.block.ms} is at most three tenths of the relay's {@code publishTimeout},
     * {@code delivery.timeout.ms} at most six tenths, {@code request.timeout.ms} at most three tenths.
     */
    public static KafkaPublisher of(Map<String, ?> settings, Duration publishTimeout) {
        Map<String, Object> limited = settings(settings, publishTimeout);
        long longestSend = millis(limited, ProducerConfig.MAX_BLOCK_MS_CONFIG, 0)
                + millis(limited, ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, 0);
        return new KafkaPublisher(
                new KafkaProducer<>(limited, new ByteArraySerializer(), new ByteArraySerializer()),
                Duration.ofMillis(longestSend));
    }

    /**
     * @param producer with {@code acks=all}, as is the default, and with {@code max.block.ms} and
     *     {@code delivery.timeout.ms} that together are shorter than the relay's {@code publishTimeout}: Kafka's
     *     defaults of one and two minutes deliver messages that the relay has sent again long since. These settings are
     *     not known here, so a message is sent until its {@link Outgoing#timeout()} is over. Closed with this
     */
    public static KafkaPublisher over(Producer<byte[], byte[]> producer) {
        return new KafkaPublisher(Objects.requireNonNull(producer, "producer"), Duration.ZERO);
    }

    static Map<String, Object> settings(Map<String, ?> settings, Duration publishTimeout) {
        long tenth = publishTimeout.toMillis() / 10;
        Map<String, Object> limited = new HashMap<>(settings);
        limited.put(ProducerConfig.ACKS_CONFIG, "all");
        limited.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
        limit(limited, ProducerConfig.MAX_BLOCK_MS_CONFIG, 3 * tenth);
        limit(limited, ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, 6 * tenth);
        // Kafka demands that delivery.timeout.ms is not shorter than linger.ms and request.timeout.ms together.
        long forRequests = millis(limited, ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, 0)
                - millis(limited, ProducerConfig.LINGER_MS_CONFIG, DEFAULT_LINGER);
        limit(limited, ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, Math.max(1, Math.min(3 * tenth, forRequests)));
        return limited;
    }

    private static void limit(Map<String, Object> settings, String name, long most) {
        settings.put(name, Math.toIntExact(Math.min(millis(settings, name, most), most)));
    }

    private static long millis(Map<String, Object> settings, String name, long unset) {
        Object value = settings.get(name);
        return value == null ? unset : Long.parseLong(value.toString().trim());
    }

    @Override
    public List<CompletionStage<PublishResult>> publish(List<Outgoing> messages) {
        long now = System.nanoTime();
        List<CompletionStage<PublishResult>> results = new ArrayList<>();
        for (Outgoing outgoing : messages) {
            CompletableFuture<PublishResult> result = new CompletableFuture<>();
            results.add(result);
            long until = now + longestWait(outgoing.timeout(), longestSend).toNanos();
            try {
                queues.add(outgoing.message().topic(), new PendingSend(outgoing.message(), until, result));
            } catch (RejectedExecutionException closed) {
                result.complete(PublishResult.failed("the publisher is closed"));
            } catch (RuntimeException | Error e) { // its neighbours must not fail with it
                result.complete(PublishResult.failed(e));
            }
        }
        return results;
    }

    /**
     * How long a message may wait in its queue, so that the producer is done with it before the relay's timeout: at
     * least a tenth of it, which is what is left with our own settings. With a producer that is slower than the relay
     * allows, messages may arrive twice; otherwise none would arrive.
     */
    static Duration longestWait(Duration timeout, Duration longestSend) {
        Duration wait = timeout.minus(longestSend);
        Duration tenth = timeout.dividedBy(10);
        return wait.compareTo(tenth) < 0 ? tenth : wait;
    }

    private final class PendingSend implements TopicQueues.Send {
        private final OutboxMessage message;
        private final long until;
        private final CompletableFuture<PublishResult> result;
        private volatile @Nullable Throwable error;

        PendingSend(OutboxMessage message, long until, CompletableFuture<PublishResult> result) {
            this.message = message;
            this.until = until;
            this.result = result;
        }

        @Override
        public TopicQueues.Reached run() {
            if (System.nanoTime() - until >= 0) {
                complete(new TimeoutException("not sent: it could not be delivered within the relay's publishTimeout"));
                return TopicQueues.Reached.UNKNOWN;
            }
            try {
                producer.send(record(message), (where, failure) -> complete(failure));
            } catch (RuntimeException | Error e) {
                complete(e);
            }
            // A producer that waited for the topic in vain has called back by now.
            return error instanceof TimeoutException ? TopicQueues.Reached.NO : TopicQueues.Reached.YES;
        }

        @Override
        public void abandon() {
            complete(new TimeoutException("the topic " + message.topic() + " is not available"));
        }

        private void complete(@Nullable Throwable failure) {
            error = failure;
            result.complete(resultOf(failure));
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

    private static PublishResult resultOf(@Nullable Throwable error) {
        if (error == null) {
            return PublishResult.published();
        }
        boolean isPermanent = error instanceof RecordTooLargeException
                || error instanceof InvalidTopicException
                || error instanceof SerializationException;
        return isPermanent ? PublishResult.refused(error.toString()) : PublishResult.failed(error);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Waits for the messages that were sent, and closes the producer. Messages that were not sent fail. */
    @Override
    public void close() {
        queues.close();
        producer.close();
    }
}
