package dev.hapax.messaging.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.messaging.kafka.PartitionWork.Settings;
import dev.hapax.messaging.kafka.PartitionWork.Start;
import java.time.Duration;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

class PartitionWorkTest {
    private static final int MAX_LAG = 10;
    private static final Duration MAX_AGE = Duration.ofMinutes(5);

    private long now;
    private final PartitionWork byKey = started(Ordering.BY_KEY);

    @Test
    void nothingIsSubmittedBeforeTheStartIsCommitted() {
        PartitionWork work = work(Ordering.BY_PARTITION, Start.UNKNOWN);
        work.add(record(7));
        assertThat(work.takeSubmittable()).isEmpty();
        assertThat(work.committable()).as("at a hand-over").hasValue(7);
        work.started(7);
        assertThat(work.takeSubmittable()).hasSize(1);
        assertThat(work.committable()).isEmpty();
    }

    /** With {@code latest}, the next owner would find the committed offset out of range, and skip the first record. */
    @Test
    void committedOffsetOutOfRangeIsReplacedFirst() {
        PartitionWork work = work(Ordering.BY_PARTITION, Start.UNKNOWN);
        work.started(3);
        assertThat(work.start()).isEqualTo(Start.COMMITTED);
        work.add(record(7));
        assertThat(work.start()).isEqualTo(Start.TO_BE_COMMITTED);
        assertThat(work.takeSubmittable()).isEmpty();
        assertThat(work.committable()).as("at a hand-over").hasValue(7);
        work.started(7);
        work.add(record(9));
        assertThat(work.takeSubmittable()).hasSize(2);
    }

    @Test
    void committedOffsetThatIsLookedUpLateIsReplacedToo() {
        PartitionWork work = work(Ordering.BY_PARTITION, Start.UNKNOWN);
        work.add(record(7));
        work.started(30);
        assertThat(work.start()).isEqualTo(Start.TO_BE_COMMITTED);
        work.started(7);
        assertThat(work.takeSubmittable()).hasSize(1);
    }

    @Test
    void commitIsOverdueWhenTooManyAreBeyondTheOldest() {
        List<PendingRecord> records = fetch(byKey, MAX_LAG - 1);
        settle(records.subList(1, records.size()));
        assertThat(byKey.isCommitOverdue()).isFalse();
        settle(fetch(byKey, 1));
        assertThat(byKey.isCommitOverdue()).isTrue();
        settle(records.subList(0, 1));
        assertThat(byKey.isCommitOverdue()).isFalse();
        assertThat(byKey.committable()).hasValue(MAX_LAG);
    }

    @Test
    void commitIsOverdueWhenTheOldestIsTooOld() {
        List<PendingRecord> old = fetch(byKey, 1);
        now += MAX_AGE.toNanos() - 1;
        fetch(byKey, 1);
        assertThat(byKey.isCommitOverdue()).isFalse();
        now++;
        assertThat(byKey.isCommitOverdue()).isTrue();
        settle(old);
        assertThat(byKey.isCommitOverdue()).isFalse();
    }

    @Test
    void partitionInOneQueueIsBoundedByCountOnly() {
        PartitionWork byPartition = started(Ordering.BY_PARTITION);
        fetch(byPartition, MAX_LAG - 1);
        now += MAX_AGE.toNanos();
        assertThat(byPartition.isCommitOverdue()).isFalse();
        fetch(byPartition, 1);
        assertThat(byPartition.isCommitOverdue()).isTrue();
    }

    /** Compacted topics have few records and many offsets. */
    @Test
    void offsetsWithoutRecordsDoNotCount() {
        byKey.add(record(0));
        byKey.add(record(5L * MAX_LAG));
        assertThat(byKey.isCommitOverdue()).isFalse();
    }

    private PartitionWork started(Ordering ordering) {
        PartitionWork work = work(ordering, Start.UNKNOWN);
        work.started(0);
        return work;
    }

    private PartitionWork work(Ordering ordering, Start start) {
        return new PartitionWork(
                new Settings(ordering, MAX_LAG, MAX_AGE.toNanos()),
                start,
                () -> now,
                settled -> new OrderedQueue(again -> {}, Runnable::run, () -> now, settled));
    }

    private static List<PendingRecord> fetch(PartitionWork work, int count) {
        long next = 0;
        while (work.hasPassed(next)) {
            next++;
        }
        for (int i = 0; i < count; i++) {
            work.add(record(next + i));
        }
        return work.takeSubmittable();
    }

    /** Offsets that were settled reach the partition when it is asked for its position. */
    private void settle(List<PendingRecord> records) {
        records.forEach(it -> it.queue.settle(it));
        assertThat(byKey.position()).isPresent();
    }

    private static ConsumerRecord<byte[], byte[]> record(long offset) {
        return new ConsumerRecord<>("t", 0, offset, null, new byte[0]);
    }
}
