package dev.hapax.messaging.kafka;

import dev.hapax.messaging.IdempotentConsumer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * Reads topics and has every record handled once, in order; commits offsets only past records that are done with.
 *
 * <pre>{@code
 * IdempotentConsumer<ConsumerRecord<byte[], byte[]>> mailer = KafkaMessages.consumer("orders.mailer", hapax)
 *     .key(KafkaMessages.header("message-id"))
 *     .handling((record, lease) -> mails.send(record.value(), lease.downstreamKey("mail")));
 *
 * KafkaConsumerLoop loop = KafkaConsumerLoop.of(settings, mailer)
 *     .topics("orders")
 *     .deadLetters(DeadLetters.toTopic(producer))
 *     .start();
 * }</pre>
 *
 * <p>Polls on a thread of its own, and keeps polling while handlers are slow, so {@code max.poll.interval.ms} need not
 * be raised for them. When a partition is taken away, records whose handlers have not begun are given back, handlers
 * that run are waited for, and what is done is committed.
 *
 * <p>While the broker or the store cannot be reached it waits, with pauses. It stops by itself only when Kafka says
 * something that waiting does not cure, or a record is rejected under {@link DeadLetters#stopping()}: then
 * {@link #stopped()} fails.
 */
public final class KafkaConsumerLoop implements AutoCloseable {
    private final PollLoop loop;
    private final Thread thread;

    private KafkaConsumerLoop(Builder builder) {
        loop = new PollLoop(builder);
        thread = new Thread(loop, "hapax-kafka-" + builder.consumer.name());
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * Begins with the settings of a Kafka consumer, such as {@code bootstrap.servers} and {@code group.id}.
     *
     * @throws IllegalArgumentException when the settings ask for offsets to be committed automatically
     */
    public static Builder of(Map<String, ?> settings, IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer) {
        Map<String, Object> ours = new HashMap<>(settings);
        Object before = ours.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        if (before != null && Boolean.parseBoolean(before.toString())) {
            throw new IllegalArgumentException(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG
                    + " is on: offsets would pass records that are not done with");
        }
        return over(new KafkaConsumer<>(ours, new ByteArrayDeserializer(), new ByteArrayDeserializer()), consumer);
    }

    /**
     * Begins with a Kafka consumer, which belongs to the loop from then on and is closed with it.
     *
     * @param kafka made with {@code enable.auto.commit=false}: otherwise it commits what is not done with
     */
    public static Builder over(
            Consumer<byte[], byte[]> kafka, IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer) {
        return new Builder(kafka, consumer);
    }

    /** Completes when the loop was closed, and fails with what stopped it if it was not. */
    public CompletionStage<Void> stopped() {
        return loop.stopped().copy();
    }

    /**
     * Stops: what has not begun is given back, what runs is waited for, what is done is committed. Closing twice does
     * nothing.
     */
    @Override
    public void close() {
        loop.stop();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Collects the settings of a {@link KafkaConsumerLoop}. Not safe for use by many threads. */
    public static final class Builder {
        final Consumer<byte[], byte[]> kafka;
        final IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer;
        List<String> topics = List.of();
        Ordering ordering = Ordering.BY_PARTITION;
        int maxInFlight = 1000;
        int threads = 16;
        Duration handOver = Duration.ofSeconds(10);
        Duration commitEvery = Duration.ofMillis(250);

        @Nullable
        Executor executor;

        @Nullable
        DeadLetters deadLetters;

        private Builder(Consumer<byte[], byte[]> kafka, IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer) {
            this.kafka = Objects.requireNonNull(kafka, "kafka");
            this.consumer = Objects.requireNonNull(consumer, "consumer");
        }

        /** Subscribes to these. Left out, the Kafka consumer must have partitions assigned by hand. */
        public Builder topics(String... topics) {
            this.topics = List.of(topics);
            return this;
        }

        /** Where rejected records go. Must be set. */
        public Builder deadLetters(DeadLetters deadLetters) {
            this.deadLetters = deadLetters;
            return this;
        }

        /** Which records wait for each other. {@link Ordering#BY_PARTITION} unless set. */
        public Builder ordering(Ordering ordering) {
            this.ordering = ordering;
            return this;
        }

        /**
         * How many records, give or take a poll, may be fetched and not done with; the partitions share it. 1,000
         * unless set. Slow handlers want less: what is fetched is also claimed, and renewed until its turn comes.
         */
        public Builder maxInFlight(int records) {
            this.maxInFlight = atLeastOne(records, "maxInFlight");
            return this;
        }

        /** How many handlers may run at a time. 16 unless set. */
        public Builder threads(int threads) {
            this.threads = atLeastOne(threads, "threads");
            return this;
        }

        /**
         * Where handlers run, instead of threads of the loop's own. It must not run them on the thread that calls it.
         */
        public Builder executor(Executor executor) {
            this.executor = executor;
            return this;
        }

        /**
         * How long handlers that run are waited for when their partition is taken away, or the loop is closed. 10
         * seconds unless set; must be shorter than {@code max.poll.interval.ms}.
         */
        public Builder handOver(Duration longest) {
            if (longest.isNegative()) {
                throw new IllegalArgumentException("handOver is " + longest + "; it cannot be negative");
            }
            this.handOver = longest;
            return this;
        }

        /**
         * How often offsets are committed, if they moved. Every 250 ms unless set: what a crash makes Kafka deliver
         * again is not handled again.
         */
        public Builder commitEvery(Duration pause) {
            if (pause.isNegative()) {
                throw new IllegalArgumentException("commitEvery is " + pause + "; it cannot be negative");
            }
            this.commitEvery = pause;
            return this;
        }

        /** @throws IllegalStateException when it was not said where dead letters go */
        public KafkaConsumerLoop start() {
            if (deadLetters == null) {
                throw new IllegalStateException(
                        "say where rejected records go: deadLetters(DeadLetters.toTopic(producer)), or stopping()");
            }
            return new KafkaConsumerLoop(this);
        }

        private static int atLeastOne(int value, String name) {
            if (value < 1) {
                throw new IllegalArgumentException(name + " is " + value + "; at least 1 is needed");
            }
            return value;
        }
    }
}
