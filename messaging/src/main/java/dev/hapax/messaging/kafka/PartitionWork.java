package dev.hapax.messaging.kafka;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * The records of one partition, from when it is assigned until it is revoked. Belongs to the loop's thread; offsets
 * that other threads settle arrive through a queue.
 *
 * <p>No record is submitted before the group has a committed offset for the partition: without one, and with
 * {@code auto.offset.reset=latest}, the next owner would skip what this one leaves unsettled.
 */
final class PartitionWork {
    private final Settings settings;
    private final LongSupplier clock;
    private final Function<LongConsumer, OrderedQueue> newQueue;
    private final Map<Object, OrderedQueue> queues = new LinkedHashMap<>();
    private final OffsetTracker offsets = new OffsetTracker();
    private final Queue<Long> settled = new ConcurrentLinkedQueue<>();
    private Start start;
    private long committed = -1;

    /** What is known about the committed offset. */
    enum Start {
        /** The group may have none. */
        UNKNOWN,
        /** The group has none, or one at which this owner did not begin. */
        TO_BE_COMMITTED,
        COMMITTED
    }

    /**
     * @param maxCommitLag how many records may be fetched from the oldest unsettled one on
     * @param maxCommitAge how long the oldest unsettled record may be in hand, in nanoseconds
     */
    record Settings(Ordering ordering, int maxCommitLag, long maxCommitAge) {}

    /** @param newQueue makes a queue that reports the offset of every settled record */
    PartitionWork(Settings settings, Start start, LongSupplier clock, Function<LongConsumer, OrderedQueue> newQueue) {
        this.settings = settings;
        this.start = start;
        this.clock = clock;
        this.newQueue = newQueue;
    }

    Start start() {
        return start;
    }

    /**
     * The group has this committed offset. Records may be submitted if it is where this owner began; otherwise it was
     * out of range, and the next owner would not find the same beginning by it.
     */
    void started(long offset) {
        committed = offset;
        start = position().orElse(offset) == offset ? Start.COMMITTED : Start.TO_BE_COMMITTED;
    }

    /** Whether the group is known to have this committed offset. */
    boolean isCommitted(long offset) {
        return start == Start.COMMITTED && committed == offset;
    }

    /** Whether a record with this offset was fetched already: then the offsets went back. */
    boolean hasPassed(long offset) {
        return offsets.hasPassed(offset);
    }

    void add(ConsumerRecord<byte[], byte[]> record) {
        boolean first = offsets.position().isEmpty();
        offsets.add(record.offset(), clock.getAsLong());
        if (first && start == Start.COMMITTED) {
            started(committed);
        }
        queues.computeIfAbsent(orderingKey(record), key -> newQueue.apply(settled::add))
                .add(record);
    }

    private Object orderingKey(ConsumerRecord<byte[], byte[]> record) {
        if (settings.ordering == Ordering.BY_PARTITION) {
            return settings.ordering;
        }
        byte[] key = record.key();
        return key == null ? record.offset() : ByteBuffer.wrap(key);
    }

    /** What is to be submitted now; counts as submitted. */
    List<PendingRecord> takeSubmittable() {
        drainSettled();
        if (start != Start.COMMITTED) {
            return List.of();
        }
        List<PendingRecord> submittable = new ArrayList<>();
        queues.values().removeIf(queue -> queue.size() == 0);
        for (OrderedQueue queue : queues.values()) {
            queue.schedule();
            submittable.addAll(queue.takeSubmittable());
        }
        return submittable;
    }

    /** Where the next owner has to begin; empty if nothing was fetched. */
    OptionalLong position() {
        drainSettled();
        return offsets.position();
    }

    private void drainSettled() {
        Long offset;
        while ((offset = settled.poll()) != null) {
            offsets.settle(offset);
        }
    }

    /** The position, if it is further than the committed offset, or there is none. */
    OptionalLong committable() {
        OptionalLong position = position();
        boolean moved = position.isPresent() && (start != Start.COMMITTED || position.getAsLong() > committed);
        return moved ? position : OptionalLong.empty();
    }

    void committed(long position) {
        committed = Math.max(committed, position);
    }

    /** How many records were fetched and are not settled. */
    int inFlight() {
        return offsets.unsettled();
    }

    /** Whether more records would only wait. Where keys are independent, others may still go on. */
    boolean isBlocked() {
        return settings.ordering == Ordering.BY_PARTITION
                && queues.values().stream().anyMatch(OrderedQueue::isBlocked);
    }

    /**
     * Whether an old unsettled record holds back the commit of too many, or for too long. The time counts only where
     * keys are independent: where a partition is one queue, a slow handler holds back no others.
     */
    boolean isCommitOverdue() {
        boolean tooOld =
                settings.ordering == Ordering.BY_KEY && offsets.age(clock.getAsLong()) >= settings.maxCommitAge;
        return tooOld || offsets.lag() >= settings.maxCommitLag;
    }

    /** Whether the engine has records. */
    boolean isInEngine() {
        return queues.values().stream().anyMatch(queue -> queue.inEngine() > 0);
    }

    /** Nothing begins any more; what has not begun is released, handlers that run go on. */
    void close() {
        queues.values().forEach(OrderedQueue::close);
    }
}
