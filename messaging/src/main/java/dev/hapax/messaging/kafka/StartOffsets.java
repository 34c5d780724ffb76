package dev.hapax.messaging.kafka;

import dev.hapax.messaging.kafka.PartitionWork.Start;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Commits where a partition begins if its group has no committed offset, or one that is out of range, before its first
 * record is submitted. Until that succeeded it is tried again. Belongs to the loop's thread.
 *
 * <p>A partition without a leader has no position and waits; the others do not wait for it. Polls find out positions,
 * so this hardly waits for one.
 *
 * <p>Not done inside the rebalance callback: under the consumer protocol a partition has no position there yet.
 */
final class StartOffsets {
    private static final Logger log = LoggerFactory.getLogger(StartOffsets.class);
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final Duration RETRY_DELAY = Duration.ofSeconds(1);
    private static final Duration ALL_POSITIONS_TIMEOUT = Duration.ofMillis(50);
    private static final Duration NEXT_POSITIONS_DELAY = Duration.ofMillis(250);

    private final Consumer<byte[], byte[]> kafka;
    private final String name;
    private final Set<TopicPartition> withoutPosition = new HashSet<>();
    private long notBefore = System.nanoTime();

    StartOffsets(Consumer<byte[], byte[]> kafka, String name) {
        this.kafka = kafka;
        this.name = name;
    }

    /** @return whether Kafka has answered */
    boolean commitMissing(Map<TopicPartition, PartitionWork> work) {
        if (uncommitted(work).isEmpty() || notBefore - System.nanoTime() > 0) {
            return false;
        }
        try {
            lookUp(work);
            commit(uncommitted(work));
            return true;
        } catch (KafkaException e) {
            if (!KafkaErrors.isTransient(e)) {
                throw e;
            }
            log.warn("Consumer {} cannot commit where partitions begin, and retries: {}", name, e.toString());
            notBefore = System.nanoTime() + RETRY_DELAY.toNanos();
            return false;
        }
    }

    private static Map<TopicPartition, PartitionWork> uncommitted(Map<TopicPartition, PartitionWork> work) {
        Map<TopicPartition, PartitionWork> uncommitted = new HashMap<>(work);
        uncommitted.values().removeIf(it -> it.start() == Start.COMMITTED);
        return uncommitted;
    }

    private void lookUp(Map<TopicPartition, PartitionWork> work) {
        Map<TopicPartition, PartitionWork> unknown = new HashMap<>(work);
        unknown.values().removeIf(it -> it.start() != Start.UNKNOWN);
        if (unknown.isEmpty()) {
            return;
        }
        kafka.committed(unknown.keySet(), TIMEOUT).forEach((partition, offset) -> {
            PartitionWork it = unknown.get(partition);
            if (it != null && offset != null) {
                it.started(offset.offset());
            }
        });
    }

    private void commit(Map<TopicPartition, PartitionWork> uncommitted) {
        Map<TopicPartition, OffsetAndMetadata> starts = positionsOfUnfetched(uncommitted);
        uncommitted.forEach((partition, it) ->
                it.position().ifPresent(fetched -> starts.put(partition, new OffsetAndMetadata(fetched))));
        if (!starts.isEmpty()) {
            kafka.commitSync(starts, TIMEOUT);
        }
        uncommitted.forEach((partition, it) -> {
            OffsetAndMetadata start = starts.get(partition);
            if (start != null) {
                it.started(start.offset());
            }
        });
        waitFor(uncommitted.keySet(), starts.keySet());
    }

    private void waitFor(Set<TopicPartition> partitions, Set<TopicPartition> committed) {
        Set<TopicPartition> left = new HashSet<>(partitions);
        left.removeAll(committed);
        if (!withoutPosition.containsAll(left)) {
            log.info("Consumer {} does not know yet where {} begin, and retries", name, left);
        }
        withoutPosition.retainAll(left);
        withoutPosition.addAll(left);
        notBefore = System.nanoTime() + (left.isEmpty() ? Duration.ZERO : NEXT_POSITIONS_DELAY).toNanos();
    }

    /**
     * Where partitions begin of which nothing was fetched and whose beginning is not committed. Those without a
     * position are left out.
     */
    Map<TopicPartition, OffsetAndMetadata> positionsOfUnfetched(Map<TopicPartition, PartitionWork> work) {
        Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
        long until = System.nanoTime() + ALL_POSITIONS_TIMEOUT.toNanos();
        work.forEach((partition, it) -> {
            if (it.position().isEmpty()) {
                OptionalLong position = position(partition, Duration.ofNanos(Math.max(0, until - System.nanoTime())));
                if (position.isPresent() && !it.isCommitted(position.getAsLong())) {
                    positions.put(partition, new OffsetAndMetadata(position.getAsLong()));
                }
            }
        });
        return positions;
    }

    private OptionalLong position(TopicPartition partition, Duration timeout) {
        try {
            return OptionalLong.of(kafka.position(partition, timeout));
        } catch (KafkaException | IllegalStateException none) { // the latter: it is gone, its revocation follows
            log.debug("Consumer {} has no position of {}: {}", name, partition, none.toString());
            return OptionalLong.empty();
        }
    }
}
