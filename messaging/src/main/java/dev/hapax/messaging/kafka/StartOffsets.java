package dev.hapax.messaging.kafka;

import dev.hapax.messaging.kafka.PartitionWork.Start;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.WakeupException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Commits where a partition begins if its group has no committed offset, before its first record is submitted. Until
 * that succeeded it is tried again, about once a second. Belongs to the loop's thread.
 *
 * <p>Not done inside the rebalance callback: under the consumer protocol a partition has no position there yet.
 */
final class StartOffsets {
    private static final Logger log = LoggerFactory.getLogger(StartOffsets.class);
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final Duration RETRY_DELAY = Duration.ofSeconds(1);

    private final Consumer<byte[], byte[]> kafka;
    private final String name;
    private long notBefore = System.nanoTime();

    StartOffsets(Consumer<byte[], byte[]> kafka, String name) {
        this.kafka = kafka;
        this.name = name;
    }

    /** @return whether Kafka has answered */
    boolean commitMissing(Map<TopicPartition, PartitionWork> work) {
        if (work.values().stream().allMatch(it -> it.start() == Start.COMMITTED) || notBefore - System.nanoTime() > 0) {
            return false;
        }
        try {
            lookUp(work);
            commit(work);
            return true;
        } catch (RetriableException
                | CommitFailedException
                | RebalanceInProgressException
                | WakeupException
                | IllegalStateException e) { // the last one: a partition is gone, and its revocation follows
            log.warn("Consumer {} cannot commit where partitions begin, and retries: {}", name, e.toString());
            notBefore = System.nanoTime() + RETRY_DELAY.toNanos();
            return false;
        }
    }

    private void lookUp(Map<TopicPartition, PartitionWork> work) {
        Set<TopicPartition> unknown = with(Start.UNKNOWN, work).keySet();
        if (unknown.isEmpty()) {
            return;
        }
        kafka.committed(unknown, TIMEOUT).forEach((partition, offset) -> {
            PartitionWork it = work.get(partition);
            if (it != null && offset != null) {
                it.started();
            }
        });
    }

    private void commit(Map<TopicPartition, PartitionWork> work) {
        Map<TopicPartition, OffsetAndMetadata> starts = new HashMap<>();
        Map<TopicPartition, PartitionWork> starting = with(Start.UNKNOWN, work);
        starting.putAll(with(Start.TO_BE_COMMITTED, work));
        starting.forEach((partition, it) -> {
            OptionalLong fetched = it.position();
            starts.put(
                    partition,
                    new OffsetAndMetadata(
                            fetched.isPresent() ? fetched.getAsLong() : kafka.position(partition, TIMEOUT)));
        });
        if (!starts.isEmpty()) {
            kafka.commitSync(starts, TIMEOUT);
            starting.values().forEach(PartitionWork::started);
        }
    }

    private static Map<TopicPartition, PartitionWork> with(Start start, Map<TopicPartition, PartitionWork> work) {
        return work.entrySet().stream()
                .filter(entry -> entry.getValue().start() == start)
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }
}
