package dev.hapax.messaging.kafka;

import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * How far a partition may be committed: past every settled record, up to the first one that is not. Offsets may have
 * gaps, but only grow. Belongs to one thread.
 */
final class OffsetTracker {
    private final TreeMap<Long, Fetch> unsettled = new TreeMap<>();
    private long next = -1;
    private long fetched;

    /**
     * @param number how many records were fetched before it
     * @param time in nanoseconds
     */
    private record Fetch(long number, long time) {}

    /**
     * A record was fetched.
     *
     * @param now in nanoseconds
     */
    void add(long offset, long now) {
        if (hasPassed(offset)) {
            throw new IllegalArgumentException("offset %d comes after %d".formatted(offset, next - 1));
        }
        unsettled.put(offset, new Fetch(fetched++, now));
        next = offset + 1;
    }

    /** Whether this offset, or one beyond it, was fetched already. */
    boolean hasPassed(long offset) {
        return offset < next;
    }

    /** A record's completion is stored, or its dead letter is kept. */
    void settle(long offset) {
        unsettled.remove(offset);
    }

    /** How many records were fetched and are not settled. */
    int unsettled() {
        return unsettled.size();
    }

    /** Where a consumer that starts now has to begin; empty when nothing was fetched yet. */
    OptionalLong position() {
        if (next < 0) {
            return OptionalLong.empty();
        }
        return OptionalLong.of(unsettled.isEmpty() ? next : unsettled.firstKey());
    }

    /** How many records were fetched from the oldest unsettled one on; 0 if all are settled. */
    long lag() {
        Map.Entry<Long, Fetch> oldest = unsettled.firstEntry();
        return oldest == null ? 0 : fetched - oldest.getValue().number();
    }

    /** How long ago the oldest unsettled record was fetched, in nanoseconds; 0 if all are settled. */
    long age(long now) {
        Map.Entry<Long, Fetch> oldest = unsettled.firstEntry();
        return oldest == null ? 0 : now - oldest.getValue().time();
    }
}
