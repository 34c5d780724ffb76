package dev.hapax.messaging.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.messaging.kafka.PartitionWork.Settings;
import dev.hapax.messaging.kafka.PartitionWork.Start;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.StaleMemberEpochException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownMemberIdException;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class StartOffsetsTest {
    private static final TopicPartition ONE = new TopicPartition("t", 1);
    private static final TopicPartition TWO = new TopicPartition("t", 2);
    private static final TopicPartition THREE = new TopicPartition("t", 3);
    private static final long END = 7;

    private final FaultyKafka kafka = new FaultyKafka();
    private final StartOffsets startOffsets = new StartOffsets(kafka, "mailer");
    private final Map<TopicPartition, PartitionWork> work = new LinkedHashMap<>();

    StartOffsetsTest() {
        List.of(ONE, TWO, THREE).forEach(partition -> work.put(partition, newWork()));
    }

    @Test
    void partitionWithoutLeaderDelaysNoOther() {
        kafka.leaderless.add(ONE);
        kafka.gone.add(TWO);
        assertThat(startOffsets.commitMissing(work)).isTrue();
        assertThat(start(THREE)).isEqualTo(Start.COMMITTED);
        assertThat(kafka.starts()).containsOnly(Map.entry(THREE, END));
        assertThat(start(ONE)).isEqualTo(Start.UNKNOWN);
        assertThat(kafka.longestWait).isLessThan(Duration.ofSeconds(1));
    }

    @Test
    void partitionIsCommittedOnceItHasALeader() {
        kafka.leaderless.add(ONE);
        startOffsets.commitMissing(work);
        kafka.leaderless.clear();
        Awaitility.await().atMost(TestKafka.patience()).until(() -> startOffsets.commitMissing(work));
        assertThat(kafka.starts()).containsOnlyKeys(ONE, TWO, THREE);
        assertThat(work.values()).allMatch(it -> it.start() == Start.COMMITTED);
    }

    @Test
    void committedOffsetOutOfRangeIsReplaced() {
        work.keySet().retainAll(Set.of(ONE));
        kafka.commitSync(Map.of(ONE, new OffsetAndMetadata(100)));
        work.values().forEach(it -> it.add(record(3)));
        startOffsets.commitMissing(work);
        assertThat(kafka.starts()).containsOnly(Map.entry(ONE, 3L));
        assertThat(start(ONE)).isEqualTo(Start.COMMITTED);
    }

    @Test
    void positionsAreThoseOfPartitionsWithNothingFetched() {
        work.get(ONE).add(record(3));
        work.get(TWO).started(END);
        assertThat(startOffsets.positionsOfUnfetched(work)).containsOnlyKeys(THREE);
        work.get(TWO).started(2); // and Kafka has reset the position since
        assertThat(startOffsets.positionsOfUnfetched(work)).containsOnlyKeys(TWO, THREE);
    }

    static List<KafkaException> errorsOfRemovedMembers() {
        return List.of(new UnknownMemberIdException(), new StaleMemberEpochException("stale"));
    }

    @ParameterizedTest
    @MethodSource("errorsOfRemovedMembers")
    void removedMemberTriesAgain(KafkaException removed) {
        kafka.committedError = removed;
        assertThat(startOffsets.commitMissing(work)).isFalse();
        kafka.committedError = null;
        Awaitility.await().atMost(TestKafka.patience()).until(() -> startOffsets.commitMissing(work));
        assertThat(kafka.starts()).hasSize(3);
    }

    @Test
    void errorThatDoesNotPassIsThrown() {
        kafka.committedError = new AuthorizationException("no");
        assertThatThrownBy(() -> startOffsets.commitMissing(work)).isSameAs(kafka.committedError);
    }

    private Start start(TopicPartition partition) {
        return work.get(partition).start();
    }

    private static PartitionWork newWork() {
        return new PartitionWork(
                new Settings(Ordering.BY_PARTITION, 10, 1),
                Start.UNKNOWN,
                () -> 0,
                settled -> new OrderedQueue(again -> {}, Runnable::run, () -> 0, settled));
    }

    private static ConsumerRecord<byte[], byte[]> record(long offset) {
        return new ConsumerRecord<>("t", 1, offset, null, new byte[0]);
    }

    /** Begins at the end of three partitions. */
    private static final class FaultyKafka extends MockConsumer<byte[], byte[]> {
        final Set<TopicPartition> leaderless = new HashSet<>();
        final Set<TopicPartition> gone = new HashSet<>();
        Duration longestWait = Duration.ZERO;

        @Nullable
        KafkaException committedError;

        FaultyKafka() {
            super("latest");
            assign(List.of(ONE, TWO, THREE));
            updateEndOffsets(Map.of(ONE, END, TWO, END, THREE, END));
        }

        Map<TopicPartition, Long> starts() {
            Map<TopicPartition, Long> starts = new HashMap<>();
            super.committed(Set.of(ONE, TWO, THREE)).forEach((partition, offset) -> {
                if (offset != null) {
                    starts.put(partition, offset.offset());
                }
            });
            return starts;
        }

        @Override
        public synchronized Map<TopicPartition, OffsetAndMetadata> committed(
                Set<TopicPartition> partitions, Duration timeout) {
            if (committedError != null) {
                throw committedError;
            }
            return super.committed(partitions);
        }

        @Override
        public synchronized long position(TopicPartition partition, Duration timeout) {
            if (gone.contains(partition)) {
                throw new IllegalStateException("not assigned");
            }
            if (leaderless.contains(partition)) {
                longestWait = timeout.compareTo(longestWait) > 0 ? timeout : longestWait;
                throw new TimeoutException("no leader");
            }
            return super.position(partition);
        }
    }
}
