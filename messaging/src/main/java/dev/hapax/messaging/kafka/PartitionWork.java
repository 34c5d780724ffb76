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
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * What a consumer does with one partition, from when it is assigned until it is taken away. Belongs to the loop's
 * thread; what other threads are done with comes through a queue.
 */
final class PartitionWork {
    private final Ordering ordering;
    private final Function<LongConsumer, Lane> newLane;
    private final Map<Object, Lane> lanes = new LinkedHashMap<>();
    private final OffsetTracker offsets = new OffsetTracker();
    private final Queue<Long> done = new ConcurrentLinkedQueue<>();
    private long committed = -1;

    /** @param newLane makes a lane that tells of every offset that is done with */
    PartitionWork(Ordering ordering, Function<LongConsumer, Lane> newLane) {
        this.ordering = ordering;
        this.newLane = newLane;
    }

    void add(ConsumerRecord<byte[], byte[]> record) {
        offsets.add(record.offset());
        committed = committed < 0 ? record.offset() : committed;
        lanes.computeIfAbsent(laneOf(record), key -> newLane.apply(done::add)).add(record);
    }

    private Object laneOf(ConsumerRecord<byte[], byte[]> record) {
        if (ordering == Ordering.BY_PARTITION) {
            return ordering;
        }
        byte[] key = record.key();
        return key == null ? record.offset() : ByteBuffer.wrap(key);
    }

    /** What is to be asked for now; counts as asked. */
    List<Slot> due() {
        List<Slot> due = new ArrayList<>();
        lanes.values().removeIf(Lane::isEmpty);
        for (Lane lane : lanes.values()) {
            lane.begin();
            due.addAll(lane.due());
        }
        return due;
    }

    /** Where to commit, if that is further than before. */
    OptionalLong committable() {
        Long offset;
        while ((offset = done.poll()) != null) {
            offsets.done(offset);
        }
        OptionalLong position = offsets.position();
        return position.isPresent() && position.getAsLong() > committed ? position : OptionalLong.empty();
    }

    void committed(long position) {
        committed = Math.max(committed, position);
    }

    /** How many records were fetched and are not done with. */
    int inFlight() {
        return offsets.open();
    }

    /** Whether more records would only wait. Where keys are independent, others may still go on. */
    boolean isBlocked() {
        return ordering == Ordering.BY_PARTITION && lanes.values().stream().anyMatch(Lane::isBlocked);
    }

    /** Whether the engine owes an answer. */
    boolean isOpen() {
        return lanes.values().stream().anyMatch(lane -> lane.open() > 0);
    }

    /** Nothing begins any more; what has not begun is given back, what runs goes on. */
    void close() {
        lanes.values().forEach(Lane::close);
    }
}
