package dev.hapax.postgres.outbox;

import dev.hapax.outbox.Outgoing;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The first messages of one ordering key, covered by one lease, and how many of them were published. They are published
 * one after the other, so the published ones are always the first ones. Used by the relay's thread only.
 */
final class LeasedMessages {
    private final Lease lease;
    private final long orderingKey;
    private final List<Entry> entries;
    private final boolean takenOver;
    private int published;
    private boolean finishUnanswered;
    private @Nullable PublishFailure failure;

    /**
     * The lease of one claim.
     *
     * @param token new for each claim, so that a late finish under an older lease changes nothing under this one
     * @param until {@link System#nanoTime} counted from before the claim was sent, so it ends here before it ends in
     *     the database
     */
    record Lease(UUID token, long until) {
        boolean lastsFor(Duration duration, long now) {
            return until - now >= duration.toNanos();
        }

        boolean isOver(long now) {
            return until - now < 0;
        }
    }

    /**
     * @param seq its position within the ordering key
     * @param unreadable why its row is no valid message, or {@code null}
     */
    record Entry(long seq, Outgoing outgoing, @Nullable String unreadable) {}

    /** @param takenOver whether the lease of another relay expired on these messages */
    LeasedMessages(Lease lease, long orderingKey, List<Entry> entries, boolean takenOver) {
        this.lease = lease;
        this.orderingKey = orderingKey;
        // One of these messages may have crashed the other relay. With one message per lease, only that one is blamed.
        this.entries = takenOver ? entries.subList(0, 1) : readable(entries);
        this.takenOver = takenOver;
        String unreadable = entries.get(0).unreadable();
        this.failure = unreadable == null ? null : new PublishFailure(unreadable, null);
    }

    /** The messages before one that cannot be read. It is the first one of a later claim, which parks it. */
    private static List<Entry> readable(List<Entry> entries) {
        int end = 1;
        while (end < entries.size() && entries.get(end).unreadable() == null) {
            end++;
        }
        return entries.subList(0, end);
    }

    Lease lease() {
        return lease;
    }

    long orderingKey() {
        return orderingKey;
    }

    /** The position of the row that carries the lease. */
    long headSeq() {
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

    /** The message in flight, or the one that failed. */
    Entry current() {
        return entries.get(published);
    }

    /** Whether this message is the one in flight. */
    boolean awaits(Entry entry) {
        return failure == null && hasNext() && current().seq() == entry.seq();
    }

    void advance() {
        published++;
    }

    void fail(PublishFailure why) {
        failure = why;
    }

    /** A finish was sent and its answer was lost: it may have been committed. */
    void finishUnanswered() {
        finishUnanswered = true;
    }

    /**
     * Whether an earlier finish was committed, given that the rows do not carry the lease any more. While the lease
     * lasts no other relay can have changed them.
     */
    boolean finishedBefore(long now) {
        return finishUnanswered && !lease.isOver(now);
    }

    @Nullable
    PublishFailure failure() {
        return failure;
    }
}
