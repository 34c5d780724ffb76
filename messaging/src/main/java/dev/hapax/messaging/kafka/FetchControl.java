package dev.hapax.messaging.kafka;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Pauses partitions that have enough records in hand and resumes those that have not. Belongs to the loop's thread.
 *
 * <p>Kafka may take a partition away at any time under the consumer protocol, before its revocation is reported. What
 * can no longer be paused or resumed is left to the report.
 */
final class FetchControl {
    private static final Logger log = LoggerFactory.getLogger(FetchControl.class);

    private final Consumer<byte[], byte[]> kafka;
    private final String name;
    private final int maxInFlight;
    private final Set<TopicPartition> overdue = new HashSet<>();

    FetchControl(Consumer<byte[], byte[]> kafka, String name, int maxInFlight) {
        this.kafka = kafka;
        this.name = name;
        this.maxInFlight = maxInFlight;
    }

    /** @param work the partitions that the rebalance callbacks reported as assigned */
    void apply(Map<TopicPartition, PartitionWork> work) {
        overdue.retainAll(work.keySet());
        int share = Math.max(1, maxInFlight / Math.max(1, work.size()));
        Set<TopicPartition> paused = kafka.paused();
        Set<TopicPartition> pause = new HashSet<>();
        Set<TopicPartition> resume = new HashSet<>();
        work.forEach((partition, it) -> {
            int enough = paused.contains(partition) ? (share + 1) / 2 : share;
            boolean full = it.isBlocked() || it.inFlight() >= enough;
            (isOverdue(partition, it) || full ? pause : resume).add(partition);
        });
        pause.removeAll(paused);
        resume.retainAll(paused);
        each(pause, kafka::pause);
        each(resume, kafka::resume);
    }

    private boolean isOverdue(TopicPartition partition, PartitionWork it) {
        if (!it.isCommitOverdue()) {
            overdue.remove(partition);
            return false;
        }
        if (overdue.add(partition)) {
            log.warn(
                    "Consumer {} pauses {} until the record at offset {} is settled, because it holds back the commit",
                    name,
                    partition,
                    it.position().orElse(-1));
        }
        return true;
    }

    /** All at once, or one by one where one of them is gone. */
    private void each(Set<TopicPartition> partitions, java.util.function.Consumer<Collection<TopicPartition>> action) {
        if (partitions.isEmpty() || succeeds(partitions, action)) {
            return;
        }
        partitions.forEach(partition -> succeeds(List.of(partition), action));
    }

    private boolean succeeds(
            Collection<TopicPartition> partitions, java.util.function.Consumer<Collection<TopicPartition>> action) {
        try {
            action.accept(partitions);
            return true;
        } catch (IllegalStateException gone) {
            log.debug("Consumer {} no longer has all of {}: {}", name, partitions, gone.toString());
            return false;
        }
    }
}
