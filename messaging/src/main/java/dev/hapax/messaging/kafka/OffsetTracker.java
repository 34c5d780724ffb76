package dev.hapax.messaging.kafka;

import java.util.OptionalLong;
import java.util.TreeSet;

/**
 * How far a partition may be committed: past every record that is done with, up to the first one that is not. Offsets
 * may have gaps. Belongs to one thread.
 */
final class OffsetTracker {
    private final TreeSet<Long> open = new TreeSet<>();
    private long next = -1;

    /** A record was fetched. */
    void add(long offset) {
        if (offset < next) {
            throw new IllegalArgumentException("offset %d comes after %d".formatted(offset, next - 1));
        }
        open.add(offset);
        next = offset + 1;
    }

    /** A record is done with: its end is stored, or it is among the dead letters. */
    void done(long offset) {
        open.remove(offset);
    }

    /** How many records were fetched and are not done with. */
    int open() {
        return open.size();
    }

    /** Where a consumer that starts now has to begin; empty when nothing was fetched yet. */
    OptionalLong position() {
        if (next < 0) {
            return OptionalLong.empty();
        }
        return OptionalLong.of(open.isEmpty() ? next : open.first());
    }
}
