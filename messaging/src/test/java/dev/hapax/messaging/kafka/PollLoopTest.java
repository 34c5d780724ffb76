package dev.hapax.messaging.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.memory.MemoryStore;
import dev.hapax.messaging.IdempotentConsumer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.StaleMemberEpochException;
import org.apache.kafka.common.errors.TimeoutException;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

/** What a broker does too rarely to be tested with one. */
@Timeout(60)
class PollLoopTest {
    private static final TopicPartition PARTITION = new TopicPartition("t", 0);
    private static final long END = 7;

    private final Hapax hapax =
            Hapax.on(new MemoryStore()).scope("mailer", Policy.defaults()).build();
    private final List<String> handled = new CopyOnWriteArrayList<>();

    @AfterEach
    void closeHapax() {
        hapax.close();
    }

    @Test
    void closeCommitsThePositionIfNothingWasFetched() {
        AtomicInteger lookups = new AtomicInteger();
        OnePartition kafka = new OnePartition() {
            @Override
            public synchronized Map<TopicPartition, OffsetAndMetadata> committed(
                    Set<TopicPartition> partitions, Duration timeout) {
                lookups.incrementAndGet();
                throw new TimeoutException("no answer");
            }
        };
        try (KafkaConsumerLoop loop = loop(kafka, consumer())) {
            Awaitility.await().atMost(TestKafka.patience()).until(() -> lookups.get() > 0);
        }
        assertThat(kafka.committed).containsExactly(END);
    }

    @Test
    void memberThatWasRemovedPollsOn() {
        OnePartition kafka = new OnePartition();
        kafka.setPollException(new StaleMemberEpochException("stale"));
        try (KafkaConsumerLoop loop = loop(kafka, consumer())) {
            kafka.schedulePollTask(() -> kafka.addRecord(record("m0", END)));
            Awaitility.await().atMost(TestKafka.patience()).until(() -> handled.contains("m0"));
            assertThat(loop.stopped().toCompletableFuture()).isNotDone();
        }
    }

    @Test
    void recordsAreRetriedIfTheyCannotBeSubmitted() {
        OnePartition kafka = new OnePartition();
        kafka.schedulePollTask(() -> kafka.addRecord(record("m0", END)));
        AtomicBoolean outOfMemory = new AtomicBoolean(true);
        IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer = KafkaMessages.consumer("mailer", hapax)
                .key(record -> {
                    if (outOfMemory.getAndSet(false)) {
                        throw new OutOfMemoryError("a small one");
                    }
                    return TestKafka.key(record);
                })
                .handling((record, lease) -> handled.add(TestKafka.key(record)));
        try (KafkaConsumerLoop loop = loop(kafka, consumer)) {
            Awaitility.await().atMost(TestKafka.patience()).until(() -> handled.contains("m0"));
        }
        assertThat(kafka.committed).endsWith(END + 1);
    }

    @Test
    void commitsThatKeepFailingAreWarnedAbout() {
        AtomicInteger failures = new AtomicInteger();
        OnePartition kafka = new OnePartition() {
            @Override
            public synchronized void commitAsync(
                    Map<TopicPartition, OffsetAndMetadata> offsets, @Nullable OffsetCommitCallback callback) {
                if (callback != null) {
                    failures.incrementAndGet();
                    callback.onComplete(offsets, new TimeoutException("no answer"));
                }
            }
        };
        kafka.schedulePollTask(() -> kafka.addRecord(record("m0", END)));
        Logger logger = (Logger) LoggerFactory.getLogger(CommitFailures.class);
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        Level before = logger.getLevel();
        logger.setLevel(Level.WARN);
        logger.addAppender(logged);
        try (KafkaConsumerLoop loop =
                builder(kafka, consumer()).commitEvery(Duration.ZERO).start()) {
            Awaitility.await()
                    .atMost(TestKafka.patience())
                    .until(() -> failures.get() > CommitFailures.FAILURES_BEFORE_WARNING);
        } finally {
            logger.detachAppender(logged);
            logger.setLevel(before);
        }
        assertThat(logged.list).hasSize(1);
    }

    private IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer() {
        return KafkaMessages.consumer("mailer", hapax)
                .key(KafkaMessages.recordKey())
                .handling((record, lease) -> handled.add(TestKafka.key(record)));
    }

    private static KafkaConsumerLoop loop(
            MockConsumer<byte[], byte[]> kafka, IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer) {
        return builder(kafka, consumer).start();
    }

    private static KafkaConsumerLoop.Builder builder(
            MockConsumer<byte[], byte[]> kafka, IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer) {
        return KafkaConsumerLoop.over(kafka, consumer).deadLetters(DeadLetters.stopping());
    }

    private static ConsumerRecord<byte[], byte[]> record(String name, long offset) {
        return new ConsumerRecord<>("t", 0, offset, TestKafka.bytes(name), TestKafka.bytes(name));
    }

    /** Begins at its end. */
    private static class OnePartition extends MockConsumer<byte[], byte[]> {
        final List<Long> committed = new CopyOnWriteArrayList<>();

        OnePartition() {
            super("latest");
            assign(List.of(PARTITION));
            updateEndOffsets(Map.of(PARTITION, END));
        }

        /** Synchronous commits come here, too. */
        @Override
        public synchronized void commitAsync(
                Map<TopicPartition, OffsetAndMetadata> offsets, OffsetCommitCallback callback) {
            offsets.values().forEach(offset -> committed.add(offset.offset()));
            super.commitAsync(offsets, callback);
        }
    }
}
