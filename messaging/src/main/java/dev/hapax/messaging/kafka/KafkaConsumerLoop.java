package dev.hapax.messaging.kafka;

import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.messaging.internal.LoopSettings;
import dev.hapax.messaging.internal.LoopThread;
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
 * Reads topics and has every record handled once, in order; commits offsets only past settled records: those whose
 * completion is stored or whose dead letter is kept.
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
 * be raised for them. When a partition is revoked, the claims of records whose handlers have not begun are released,
 * running handlers are waited for, and what is settled is committed.
 *
 * <p>A partition without a committed offset, or with one that is out of range, gets one before its first record is
 * handled, so that the next owner begins there, whatever {@code auto.offset.reset} says. A partition whose offsets go
 * back, because its topic was truncated or created anew, begins anew.
 *
 * <p>While the broker or the store cannot be reached the loop waits and retries. It stops by itself only on an error of
 * Kafka that waiting does not cure, or when a record is rejected under {@link DeadLetters#stopping()}: then
 * {@link #stopped()} fails.
 */
public final class KafkaConsumerLoop implements AutoCloseable {
    private final PollLoop loop;
    private final LoopThread thread;

    private KafkaConsumerLoop(Builder builder) {
        loop = new PollLoop(builder);
        thread = LoopThread.start("hapax-kafka-" + builder.consumer.name(), loop);
    }

    /**
     * Begins with the settings of a Kafka consumer, such as {@code bootstrap.servers} and {@code group.id}. Default of
     * {@code auto.offset.reset} here: {@code earliest}, so that a new group handles what the topic holds.
     *
     * @throws IllegalArgumentException when the settings ask for offsets to be committed automatically
     */
    public static Builder of(Map<String, ?> settings, IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer) {
        Map<String, Object> ours = new HashMap<>(settings);
        ours.putIfAbsent(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        Object before = ours.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        if (before != null && Boolean.parseBoolean(before.toString())) {
            throw new IllegalArgumentException(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG
                    + " is on: Kafka would commit offsets of records that are not settled; turn it off");
        }
        return over(new KafkaConsumer<>(ours, new ByteArrayDeserializer(), new ByteArrayDeserializer()), consumer);
    }

    /**
     * Begins with a Kafka consumer, which belongs to the loop from then on and is closed with it.
     *
     * @param kafka made with {@code enable.auto.commit=false}: otherwise it commits records that are not settled
     */
    public static Builder over(
            Consumer<byte[], byte[]> kafka, IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer) {
        return new Builder(kafka, consumer);
    }

    /** Completes when the loop was closed, and fails with what stopped it if it was not. */
    public CompletionStage<Void> stopped() {
        return thread.stopped();
    }

    /**
     * Whether the loop is consuming, for health checks: it has not been closed and has not stopped, the last poll did
     * not fail, and Kafka has answered within the {@link Builder#livenessTimeout}. For subscribed topics an answer is
     * an assignment or a heartbeat of the group's coordinator, so the loop is a live member of its group, possibly
     * without partitions. For partitions that were assigned by hand it is any answer of a broker; there are none while
     * all partitions are paused.
     *
     * <p>It says nothing about handlers, the store, or how far behind the consumer is. It turns false only after the
     * timeout when brokers fall silent, since Kafka's consumer does not report that.
     */
    public boolean isConsuming() {
        return thread.isRunning() && loop.isConsuming();
    }

    /**
     * Stops: the claims of records that have not begun are released, running handlers are waited for, what is settled
     * is committed. Closing twice does nothing.
     */
    @Override
    public void close() {
        thread.close();
    }

    /** Collects the settings of a {@link KafkaConsumerLoop}. Not safe for use by many threads. */
    public static final class Builder {
        final Consumer<byte[], byte[]> kafka;
        final IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer;
        List<String> topics = List.of();
        Ordering ordering = Ordering.BY_PARTITION;
        int maxInFlight = 1000;
        LoopSettings loop = LoopSettings.defaults();
        Duration commitEvery = Duration.ofMillis(250);
        int maxCommitLag = 10_000;
        Duration maxCommitAge = Duration.ofMinutes(5);
        Duration livenessTimeout = Duration.ofSeconds(30);

        @Nullable
        DeadLetters deadLetters;

        private Builder(Consumer<byte[], byte[]> kafka, IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer) {
            this.kafka = Objects.requireNonNull(kafka, "kafka");
            this.consumer = Objects.requireNonNull(consumer, "consumer");
        }

        /** Subscribes to these. If omitted, the Kafka consumer must have partitions assigned by hand. */
        public Builder topics(String... topics) {
            this.topics = List.of(topics);
            return this;
        }

        /** Where rejected records go. Must be set. */
        public Builder deadLetters(DeadLetters deadLetters) {
            this.deadLetters = deadLetters;
            return this;
        }

        /** Which records wait for each other. Default: {@link Ordering#BY_PARTITION}. */
        public Builder ordering(Ordering ordering) {
            this.ordering = ordering;
            return this;
        }

        /**
         * How many records, give or take a poll, may be fetched and not settled; the partitions share it. Default:
         * 1,000. Slow handlers want less: fetched records are claimed, and their leases renewed until their turn comes.
         */
        public Builder maxInFlight(int records) {
            this.maxInFlight = LoopSettings.atLeastOne(records, "maxInFlight");
            return this;
        }

        /** How many handlers may run at a time. Default: 16. */
        public Builder threads(int threads) {
            this.loop = loop.withThreads(threads);
            return this;
        }

        /**
         * Where handlers run, instead of threads of the loop's own. It must not run them on the thread that calls it.
         */
        public Builder executor(Executor executor) {
            this.loop = loop.withExecutor(executor);
            return this;
        }

        /**
         * How long running handlers are waited for when their partition is revoked, or the loop is closed. Default: 10
         * s. Must be shorter than {@code max.poll.interval.ms}.
         */
        public Builder handOver(Duration longest) {
            this.loop = loop.withHandOver(longest);
            return this;
        }

        /**
         * How often offsets are committed, if they moved. Default: 250 ms. Records that Kafka delivers again after a
         * crash are not handled again.
         */
        public Builder commitEvery(Duration pause) {
            this.commitEvery = LoopSettings.notNegative(pause, "commitEvery");
            return this;
        }

        /**
         * How many records of a partition, give or take a poll, may be fetched from its oldest unsettled one on.
         * Default: 10,000. Beyond that the partition is paused, with a warning, until that record is settled. With
         * {@link Ordering#BY_KEY}, one record that is retried for long would hold back the commit while the others go
         * on, and after a crash all of them would be delivered again. With {@link Ordering#BY_PARTITION}, one
         * completion that the store takes long to store would do the same. Should be larger than {@link #maxInFlight}.
         */
        public Builder maxCommitLag(int records) {
            this.maxCommitLag = LoopSettings.atLeastOne(records, "maxCommitLag");
            return this;
        }

        /**
         * How long the oldest unsettled record of a partition may have been fetched before the partition is paused
         * until it is settled, as with {@link #maxCommitLag}; for {@link Ordering#BY_KEY} only. Default: 5 minutes.
         */
        public Builder maxCommitAge(Duration longest) {
            this.maxCommitAge = LoopSettings.notNegative(longest, "maxCommitAge");
            return this;
        }

        /**
         * How long {@link KafkaConsumerLoop#isConsuming()} stays true without an answer from Kafka. Default: 30 s. Must
         * be longer than the heartbeat interval, which is 3 s by default, and 5 s under the consumer protocol.
         */
        public Builder livenessTimeout(Duration timeout) {
            this.livenessTimeout = LoopSettings.notNegative(timeout, "livenessTimeout");
            return this;
        }

        /** @throws IllegalStateException when {@link #deadLetters} was not set */
        public KafkaConsumerLoop start() {
            if (deadLetters == null) {
                throw new IllegalStateException(
                        "say where rejected records go: deadLetters(DeadLetters.toTopic(producer)), or stopping()");
            }
            return new KafkaConsumerLoop(this);
        }
    }
}
