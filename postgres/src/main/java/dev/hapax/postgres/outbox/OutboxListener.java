package dev.hapax.postgres.outbox;

import dev.hapax.outbox.Outgoing;
import dev.hapax.store.StoreException;
import java.time.Duration;

/**
 * Observes what a relay does: for metrics and logs. {@link #lag} is called on a thread of its own, everything else on
 * the relay's thread: return soon. Whatever a listener throws is logged and changes nothing.
 */
public interface OutboxListener {

    /**
     * The broker has the message, and it was removed from the outbox. Not called if the database's answer to the
     * removal is lost and does not come again before the lease ends: {@link #leasesLost} is called then.
     */
    default void published(Outgoing message) {}

    /** The message was not published and is retried. */
    default void failed(Outgoing message, String reason, Duration retryIn) {}

    /** The message was not published and waits for an operator's decision, see {@link OutboxInspector}. */
    default void parked(Outgoing message, String reason) {}

    /**
     * The leases of so many aggregates expired before it was known that their published messages were removed: unless
     * they were, they are published again.
     */
    default void leasesLost(int aggregates) {}

    /** The database could not be reached or refused; the relay tries again after a pause. */
    default void unavailable(StoreException cause) {}

    /** How far the relays are behind; called every {@link OutboxRelay.Builder#lagEvery}. */
    default void lag(OutboxLag lag) {}
}
