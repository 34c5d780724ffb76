package dev.hapax.postgres.outbox;

import dev.hapax.outbox.Outgoing;
import dev.hapax.store.StoreException;
import java.time.Duration;

/**
 * Hears what a relay does: for metrics and logs. Called on the relay's own thread: be quick. What a listener throws is
 * logged and changes nothing.
 */
public interface OutboxListener {

    /** The broker has the message, and it was removed from the outbox. Counted, this is the publish rate. */
    default void published(Outgoing message) {}

    /** The message was not published and is tried again. */
    default void failed(Outgoing message, String reason, Duration retryIn) {}

    /** The message was not published and waits for somebody to decide. */
    default void parked(Outgoing message, String reason) {}

    /** The leases of so many aggregates ran out before what was published could be removed: it is published again. */
    default void leasesLost(int aggregates) {}

    /** The database could not be reached or refused; the relay tries again after a pause. */
    default void unavailable(StoreException cause) {}

    /** How far the relays are behind; asked for now and then, see {@link OutboxRelay.Builder#lagEvery}. */
    default void lag(OutboxLag lag) {}
}
