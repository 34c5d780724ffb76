package dev.hapax.bench.kafka;

import dev.hapax.bench.peers.Payload;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * A consumer with a topic of its own, to which messages of 300 bytes are sent, each with a new key. The consumer stays
 * in its group from turn to turn, so that joining it does not count; handlers do nothing.
 */
public final class ConsumerLoad implements AutoCloseable {
    private static final int PARTITIONS = 4;
    private static final byte[] BODY = Payload.bytes(300);
    private static final long LOOK_EVERY = 500_000;
    private static final long AT_MOST = Duration.ofMinutes(2).toNanos();

    private final String topic = "bench-" + UUID.randomUUID();
    private final KafkaProducer<byte[], byte[]> producer;
    private final AtomicLong completed = new AtomicLong();
    private final Consumption consumption;

    /** A consumer that runs. */
    interface Consumption extends AutoCloseable {
        /** What ended it, if anything did. */
        @Nullable
        Throwable failure();

        @Override
        void close() throws Exception;
    }

    /** Has a consumer read a topic. */
    private interface Start {
        Consumption start(Map<String, Object> settings, String topic, Runnable completed) throws Exception;
    }

    private ConsumerLoad(KafkaBroker broker, Start start) throws Exception {
        broker.createTopic(topic, PARTITIONS);
        Map<String, Object> server = Map.of("bootstrap.servers", broker.bootstrapServers());
        producer = new KafkaProducer<>(server, new ByteArraySerializer(), new ByteArraySerializer());
        Map<String, Object> settings = new HashMap<>(server);
        settings.put("group.id", topic);
        settings.put("auto.offset.reset", "earliest");
        settings.put("enable.auto.commit", "false");
        consumption = start.start(settings, topic, completed::incrementAndGet);
    }

    /** The consumer loop of Hapax with its defaults, which claims what a poll returned together. */
    public static ConsumerLoad idempotent(KafkaBroker broker, DataSource dataSource) throws Exception {
        return new ConsumerLoad(
                broker, (settings, topic, completed) -> new IdempotentLoop(settings, topic, dataSource, completed));
    }

    /** A consumer that inserts the key of each message on its own before it handles it. */
    public static ConsumerLoad inserting(KafkaBroker broker, DataSource dataSource) throws Exception {
        return new ConsumerLoad(
                broker, (settings, topic, completed) -> new InsertingLoop(settings, topic, dataSource, completed));
    }

    /** @return messages per second from the first that is sent to the last that was completed */
    public double perSecond(int messages) {
        long until = completed.get() + messages;
        long began = System.nanoTime();
        for (int i = 0; i < messages; i++) {
            byte[] key = UUID.randomUUID().toString().getBytes(StandardCharsets.UTF_8);
            producer.send(new ProducerRecord<>(topic, key, BODY));
        }
        while (completed.get() < until) {
            Throwable failure = consumption.failure();
            if (failure != null || System.nanoTime() - began > AT_MOST) {
                throw new IllegalStateException(
                        "only %d of %d were completed".formatted(completed.get(), until), failure);
            }
            LockSupport.parkNanos(LOOK_EVERY);
        }
        return messages * 1e9 / (System.nanoTime() - began);
    }

    @Override
    public void close() throws Exception {
        consumption.close();
        producer.close();
    }
}
