package dev.hapax.messaging.kafka;

import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * How far a partition may be committed: past every settled record, up to the first one that is not. Offsets may have
 * gaps, but only grow. Belongs to one thread.
 */
final class OffsetTracker {
    private final TreeMap<Long, Long> fetchTimes = new TreeMap<>();
    private long next = -1;

    /**
     * A record was fetched.
     *
     * @param now in nanoseconds
     */
    void add(long offset, long now) {
        if (hasPassed(offset)) {
            throw new IllegalArgumentException("offset %d comes after %d".formatted(offset, next - 1));
        }
        fetchTimes.put(offset, now);
        next = offset + 1;
    }

    /** Whether this offset, or one beyond it, was fetched already. */
    boolean hasPassed(long offset) {
        return offset < next;
    }

    /** A record's completion is stored, or its dead letter is kept. */
    void settle(long offset) {
        fetchTimes.remove(offset);
    }

    /** How many records were fetched and are not settled. */
    int unsettled() {
        return fetchTimes.size();
    }

    /** Where a consumer that starts now has to begin; empty when nothing was fetched yet. */
    OptionalLong position() {
        if (next < 0) {
            return OptionalLong.empty();
        }
        return OptionalLong.of(fetchTimes.isEmpty() ? next : fetchTimes.firstKey());
    }

    /** How many offsets were fetched from the oldest unsettled record on; 0 if all are settled. */
    long lag() {
        return fetchTimes.isEmpty() ? 0 : next - fetchTimes.firstKey();
    }

    /** How long ago the oldest unsettled record was fetched, in nanoseconds; 0 if all are settled. */
    long age(long now) {
        Map.Entry<Long, Long> oldest = fetchTimes.firstEntry();
        return oldest == null ? 0 : now - oldest.getValue();
    }
}
