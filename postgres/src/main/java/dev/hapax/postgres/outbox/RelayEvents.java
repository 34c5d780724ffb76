package dev.hapax.postgres.outbox;

import dev.hapax.outbox.Outgoing;
import dev.hapax.store.StoreException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies listeners and the log of what a relay did. Safe for use by many threads. Whatever a listener throws, an
 * {@link Error} included, is logged and reaches neither the relay nor the other listeners.
 */
final class RelayEvents {
    private static final Logger log = LoggerFactory.getLogger(OutboxRelay.class);

    private final List<OutboxListener> listeners;

    RelayEvents(List<OutboxListener> listeners) {
        this.listeners = List.copyOf(listeners);
    }

    boolean hasListeners() {
        return !listeners.isEmpty();
    }

    void lag(OutboxLag lag) {
        notify(listener -> listener.lag(lag));
    }

    void unavailable(StoreException cause) {
        notify(listener -> listener.unavailable(cause));
    }

    /** @param stillLeased those whose lease had not expired */
    void finished(List<LeasedMessages> finished, Set<LeasedMessages> stillLeased) {
        int lost = 0;
        for (LeasedMessages messages : finished) {
            if (stillLeased.contains(messages)) {
                finished(messages);
            } else {
                lost++;
            }
        }
        if (lost > 0) {
            int aggregates = lost;
            log.warn("The leases of {} aggregates expired: their messages are published again", aggregates);
            notify(listener -> listener.leasesLost(aggregates));
        }
    }

    private void finished(LeasedMessages messages) {
        if (!listeners.isEmpty()) {
            messages.published().forEach(entry -> notify(listener -> listener.published(entry.outgoing())));
        }
        PublishFailure failure = messages.failure();
        if (failure != null) {
            failed(messages.current().outgoing(), failure);
        }
    }

    private void failed(Outgoing message, PublishFailure failure) {
        Duration retryIn = failure.retryIn();
        if (retryIn == null) {
            log.warn("Parked {} after attempt {}: {}", message.message(), message.attempt(), failure.reason());
            notify(listener -> listener.parked(message, failure.reason()));
        } else {
            log.debug(
                    "{} failed at attempt {}, next attempt in {}: {}",
                    message.message(),
                    message.attempt(),
                    retryIn,
                    failure.reason());
            notify(listener -> listener.failed(message, failure.reason(), retryIn));
        }
    }

    private void notify(Consumer<OutboxListener> event) {
        for (OutboxListener listener : listeners) {
            try {
                event.accept(listener);
            } catch (Throwable e) { // listeners in other languages throw checked exceptions as well
                log.warn("An outbox listener failed", e);
            }
        }
    }
}
