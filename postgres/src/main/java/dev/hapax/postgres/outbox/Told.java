package dev.hapax.postgres.outbox;

import dev.hapax.outbox.Outgoing;
import dev.hapax.store.StoreException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells the listeners and the log what became of runs. */
final class Told {
    private static final Logger log = LoggerFactory.getLogger(OutboxRelay.class);

    private final List<OutboxListener> listeners;

    Told(List<OutboxListener> listeners) {
        this.listeners = List.copyOf(listeners);
    }

    boolean wantsLag() {
        return !listeners.isEmpty();
    }

    void lag(OutboxLag lag) {
        tell(listener -> listener.lag(lag));
    }

    void unavailable(StoreException cause) {
        tell(listener -> listener.unavailable(cause));
    }

    /** @param mine those whose lease still held */
    void finished(List<Run> runs, Set<Run> mine) {
        int lost = 0;
        for (Run run : runs) {
            if (mine.contains(run)) {
                finished(run);
            } else {
                lost++;
            }
        }
        if (lost > 0) {
            int aggregates = lost;
            log.warn("The leases of {} aggregates ran out: what they had published is published again", aggregates);
            tell(listener -> listener.leasesLost(aggregates));
        }
    }

    private void finished(Run run) {
        if (!listeners.isEmpty()) {
            run.published().forEach(entry -> tell(listener -> listener.published(entry.outgoing())));
        }
        Run.Setback setback = run.setback();
        if (setback == null) {
            return;
        }
        Outgoing message = run.current().outgoing();
        Duration retryIn = setback.retryIn();
        if (retryIn == null) {
            log.warn("Parked {} after attempt {}: {}", message.message(), message.attempt(), setback.reason());
            tell(listener -> listener.parked(message, setback.reason()));
        } else {
            log.debug(
                    "{} failed at attempt {}, again in {}: {}",
                    message.message(),
                    message.attempt(),
                    retryIn,
                    setback.reason());
            tell(listener -> listener.failed(message, setback.reason(), retryIn));
        }
    }

    private void tell(Consumer<OutboxListener> what) {
        for (OutboxListener listener : listeners) {
            try {
                what.accept(listener);
            } catch (RuntimeException e) {
                log.warn("An outbox listener failed", e);
            }
        }
    }
}
