package dev.hapax.messaging.kafka;

import dev.hapax.messaging.internal.HandlerThreads;
import dev.hapax.messaging.internal.LoopThread;
import dev.hapax.messaging.kafka.PartitionWork.Start;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that talks to the Kafka consumer.
 *
 * <p>Again and again: poll, make sure that new partitions have a committed offset, submit all fetched records to the
 * engine in one batch, commit what is settled, pause the partitions that have enough records and resume those that have
 * not. It polls on while everything is paused, which is how Kafka knows that the consumer lives.
 *
 * <p>The partitions in {@link #work} are those that the rebalance callbacks reported, not those that Kafka would report
 * now: under the consumer protocol the two may differ for a moment.
 */
final class PollLoop implements LoopThread.Loop, ConsumerRebalanceListener {
    private static final Logger log = LoggerFactory.getLogger(PollLoop.class);
    private static final Duration BUSY_POLL = Duration.ofMillis(10);
    private static final Duration IDLE_POLL = Duration.ofMillis(100);
    private static final Duration ERROR_PAUSE = Duration.ofSeconds(1);
    private static final Duration HAND_OVER_CHECK = Duration.ofMillis(2);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    private final Consumer<byte[], byte[]> kafka;
    private final List<String> topics;
    private final Duration handOver;
    private final Duration commitEvery;
    private final String name;
    private final PartitionWork.Settings partitionSettings;
    private final DeadLetterSender deadLetters;
    private final RecordSubmitter submitter;
    private final StartOffsets startOffsets;
    private final FetchControl fetchControl;
    private final CommitFailures commitFailures;
    private final BrokerLiveness liveness;
    private final HandlerThreads threads;
    private final Map<TopicPartition, PartitionWork> work = new LinkedHashMap<>();
    private final AtomicReference<@Nullable RejectedRecordException> rejection = new AtomicReference<>();
    private volatile boolean stopping;
    private boolean committing;
    private long committedAt;

    PollLoop(KafkaConsumerLoop.Builder settings) {
        this.kafka = settings.kafka;
        this.topics = settings.topics;
        this.handOver = settings.loop.handOver();
        this.commitEvery = settings.commitEvery;
        this.name = settings.consumer.name();
        this.partitionSettings =
                new PartitionWork.Settings(settings.ordering, settings.maxCommitLag, settings.maxCommitAge.toNanos());
        this.threads = new HandlerThreads(settings.loop, "hapax-kafka-" + name);
        this.deadLetters = new DeadLetterSender(Objects.requireNonNull(settings.deadLetters), name);
        this.submitter = new RecordSubmitter(settings.consumer, deadLetters, this::stopAt);
        this.startOffsets = new StartOffsets(kafka, name);
        this.fetchControl = new FetchControl(kafka, name, settings.maxInFlight);
        this.commitFailures = new CommitFailures(name);
        this.liveness = new BrokerLiveness(kafka, !topics.isEmpty(), settings.livenessTimeout, System::nanoTime);
        this.committedAt = System.nanoTime() - commitEvery.toNanos();
    }

    boolean isConsuming() {
        return !stopping && liveness.isAnswering();
    }

    @Override
    public void stop() {
        stopping = true;
    }

    private void stopAt(RejectedRecordException rejected) {
        rejection.compareAndSet(null, rejected);
        stopping = true;
    }

    @Override
    public void run() {
        try {
            if (topics.isEmpty()) {
                addPartitions(kafka.assignment());
            } else {
                kafka.subscribe(topics, this);
            }
            while (!stopping) {
                pollOnce();
            }
        } finally {
            stopping = true;
            end();
        }
        RejectedRecordException rejected = rejection.get();
        if (rejected != null) {
            throw rejected;
        }
    }

    private void pollOnce() {
        poll().forEach(this::add);
        if (startOffsets.commitMissing(work)) {
            liveness.answered();
        }
        List<PendingRecord> submittable = new ArrayList<>();
        work.values().forEach(it -> submittable.addAll(it.takeSubmittable()));
        submitter.submit(submittable);
        commitIfDue();
        fetchControl.apply(work);
    }

    private Iterable<ConsumerRecord<byte[], byte[]>> poll() {
        boolean busy = work.values().stream().anyMatch(it -> it.inFlight() > 0);
        try {
            Iterable<ConsumerRecord<byte[], byte[]>> records = kafka.poll(busy ? BUSY_POLL : IDLE_POLL);
            liveness.polled();
            return records;
        } catch (WakeupException woken) {
            return List.of();
        } catch (KafkaException e) {
            if (!KafkaErrors.isTransient(e)) {
                throw e;
            }
            liveness.failed();
            log.warn("Consumer {} cannot poll now: {}", name, e.toString());
            LockSupport.parkNanos(ERROR_PAUSE.toNanos());
            return List.of();
        }
    }

    /** A topic that was truncated or created anew has its offsets again: what was in hand is of no use then. */
    private void add(ConsumerRecord<byte[], byte[]> record) {
        TopicPartition partition = new TopicPartition(record.topic(), record.partition());
        PartitionWork it = work.computeIfAbsent(partition, absent -> newPartition(Start.UNKNOWN));
        if (it.hasPassed(record.offset())) {
            log.warn("Consumer {} begins {} anew: its offsets went back to {}", name, partition, record.offset());
            it.close();
            it = newPartition(Start.TO_BE_COMMITTED);
            work.put(partition, it);
        }
        it.add(record);
    }

    private PartitionWork newPartition(Start start) {
        return new PartitionWork(
                partitionSettings,
                start,
                System::nanoTime,
                settled -> new OrderedQueue(submitter, threads, System::nanoTime, settled));
    }

    private void commitIfDue() {
        long now = System.nanoTime();
        if (committing || now - committedAt < commitEvery.toNanos()) {
            return;
        }
        Map<TopicPartition, PartitionWork> begun = new HashMap<>(work);
        begun.values().removeIf(it -> it.start() != Start.COMMITTED);
        Map<TopicPartition, OffsetAndMetadata> offsets = committable(begun);
        if (offsets.isEmpty()) {
            return;
        }
        committing = true;
        committedAt = now;
        kafka.commitAsync(offsets, (sent, error) -> {
            committing = false;
            if (error == null) {
                commitFailures.succeeded();
                sent.forEach((partition, offset) ->
                        Objects.requireNonNull(begun.get(partition)).committed(offset.offset()));
            } else {
                commitFailures.failed(error);
            }
        });
    }

    private static Map<TopicPartition, OffsetAndMetadata> committable(Map<TopicPartition, PartitionWork> work) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        work.forEach((partition, it) ->
                it.committable().ifPresent(offset -> offsets.put(partition, new OffsetAndMetadata(offset))));
        return offsets;
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        log.debug("Consumer {} was assigned {}", name, partitions);
        addPartitions(partitions);
        liveness.answered();
    }

    private void addPartitions(Collection<TopicPartition> partitions) {
        partitions.forEach(partition -> work.computeIfAbsent(partition, absent -> newPartition(Start.UNKNOWN)));
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        log.debug("Consumer {} gives up {}", name, partitions);
        handOver(partitions);
    }

    /** They have another owner already: nothing may be committed, and nothing is to be waited for. */
    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        log.warn("Consumer {} lost {}", name, partitions);
        for (TopicPartition partition : partitions) {
            PartitionWork lost = work.remove(partition);
            if (lost != null) {
                lost.close();
            }
        }
    }

    private void handOver(Collection<TopicPartition> partitions) {
        Map<TopicPartition, PartitionWork> revoked = new HashMap<>(work);
        revoked.keySet().retainAll(partitions);
        revoked.values().forEach(PartitionWork::close);
        long until = System.nanoTime() + handOver.toNanos();
        while (revoked.values().stream().anyMatch(PartitionWork::isInEngine) && until - System.nanoTime() > 0) {
            LockSupport.parkNanos(HAND_OVER_CHECK.toNanos());
        }
        try {
            Map<TopicPartition, OffsetAndMetadata> offsets = committable(revoked);
            offsets.putAll(startOffsets.positionsOfUnfetched(revoked));
            if (!offsets.isEmpty()) {
                kafka.commitSync(offsets, CLOSE_TIMEOUT);
            }
        } catch (KafkaException e) {
            log.warn("Consumer {} could not commit what it gives up: {}", name, e.toString());
        }
        work.keySet().removeAll(partitions);
    }

    private void end() {
        try {
            handOver(new ArrayList<>(work.keySet()));
        } finally {
            try {
                kafka.close(CloseOptions.timeout(CLOSE_TIMEOUT));
            } catch (RuntimeException e) {
                log.warn("Consumer {} could not leave its group: {}", name, e.toString());
            }
            deadLetters.close();
            threads.close();
        }
    }
}
