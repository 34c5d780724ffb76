package dev.hapax.messaging.kafka;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A Kafka consumer that a test can kill, rewind, or let fail as Kafka's own does. */
final class FaultyConsumer extends KafkaConsumer<byte[], byte[]> {
    final AtomicBoolean killed = new AtomicBoolean();
    final AtomicBoolean rewind = new AtomicBoolean();

    /** How many of the next look-ups of committed offsets time out. */
    final AtomicInteger failingLookups = new AtomicInteger();

    /** How many of the next synchronous commits time out. */
    final AtomicInteger failingCommits = new AtomicInteger();

    /** How many of the next pauses and resumptions find their partition gone. */
    final AtomicInteger gonePartitions = new AtomicInteger();

    /** How many synchronous commits succeeded. */
    final AtomicInteger commits = new AtomicInteger();

    FaultyConsumer(Map<String, Object> settings) {
        super(withoutAutoCommit(settings), new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private static Map<String, Object> withoutAutoCommit(Map<String, Object> settings) {
        settings.put("enable.auto.commit", "false");
        return settings;
    }

    @Override
    public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
        requireAlive();
        if (rewind.getAndSet(false)) {
            seekToBeginning(assignment());
        }
        return super.poll(timeout);
    }

    @Override
    public Map<TopicPartition, OffsetAndMetadata> committed(Set<TopicPartition> partitions, Duration timeout) {
        if (failingLookups.getAndUpdate(left -> Math.max(left - 1, 0)) > 0) {
            throw new TimeoutException("no answer");
        }
        return super.committed(partitions, timeout);
    }

    @Override
    public void commitSync(Map<TopicPartition, OffsetAndMetadata> offsets, Duration timeout) {
        requireAlive();
        if (failingCommits.getAndUpdate(left -> Math.max(left - 1, 0)) > 0) {
            throw new TimeoutException("no answer");
        }
        super.commitSync(offsets, timeout);
        commits.incrementAndGet();
    }

    @Override
    public void commitAsync(Map<TopicPartition, OffsetAndMetadata> offsets, OffsetCommitCallback callback) {
        requireAlive();
        super.commitAsync(offsets, callback);
    }

    @Override
    public void pause(Collection<TopicPartition> partitions) {
        requirePresent(partitions);
        super.pause(partitions);
    }

    @Override
    public void resume(Collection<TopicPartition> partitions) {
        requirePresent(partitions);
        super.resume(partitions);
    }

    private void requirePresent(Collection<TopicPartition> partitions) {
        if (gonePartitions.getAndUpdate(left -> Math.max(left - 1, 0)) > 0) {
            throw new IllegalStateException("No current assignment for partition " + partitions);
        }
    }

    private void requireAlive() {
        if (killed.get()) {
            throw new KafkaException("killed");
        }
    }
}
