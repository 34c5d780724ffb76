package dev.hapax.postgres.outbox;

import dev.hapax.outbox.Outgoing;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The first messages of a lane, leased by the first of them, and how far they got. They go out one after the other, so
 * what is published is always a beginning of the run. Used by the relay's thread only.
 */
final class Run {
    private final Lease lease;
    private final long lane;
    private final List<Entry> entries;
    private final boolean takenOver;
    private int published;
    private @Nullable Setback setback;

    /**
     * What one claim got.
     *
     * @param token its own, so that a late answer to an older one cannot be taken for an answer to this one
     * @param until on this process's clock, counted from before the claim was sent: it ends here before it ends there
     */
    record Lease(UUID token, long until) {
        boolean lastsFor(Duration duration, long now) {
            return until - now >= duration.toNanos();
        }

        boolean isOver(long now) {
            return until - now < 0;
        }
    }

    /** @param seq its place in the lane */
    record Entry(long seq, Outgoing outgoing) {}

    /**
     * Why the run got no further.
     *
     * @param retryIn {@code null} where the message is parked
     */
    record Setback(String reason, @Nullable Duration retryIn) {}

    /** @param takenOver whether somebody else held the lease and let it run out */
    Run(Lease lease, long lane, List<Entry> entries, boolean takenOver) {
        this.lease = lease;
        this.lane = lane;
        // Whoever held it may have died of one of these messages: go step by step, so that it is the only one to blame.
        this.entries = takenOver ? entries.subList(0, 1) : entries;
        this.takenOver = takenOver;
    }

    Lease lease() {
        return lease;
    }

    long lane() {
        return lane;
    }

    /** The place of the message that carries the lease. */
    long head() {
        return entries.get(0).seq();
    }

    int size() {
        return entries.size();
    }

    boolean takenOver() {
        return takenOver;
    }

    List<Entry> published() {
        return entries.subList(0, published);
    }

    boolean hasNext() {
        return published < entries.size();
    }

    /** The message under way, or the one that did not get through. */
    Entry current() {
        return entries.get(published);
    }

    /** Whether this is the message that an answer is waited for. */
    boolean awaits(Entry entry) {
        return setback == null && hasNext() && current().seq() == entry.seq();
    }

    void advance() {
        published++;
    }

    void stop(Setback why) {
        setback = why;
    }

    @Nullable
    Setback setback() {
        return setback;
    }
}
