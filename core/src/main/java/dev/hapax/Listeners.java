package dev.hapax;

import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells every listener, whatever the others throw. */
final class Listeners {
    private static final Logger log = LoggerFactory.getLogger(Listeners.class);

    private final List<HapaxListener> listeners;

    Listeners(List<HapaxListener> listeners) {
        this.listeners = List.copyOf(listeners);
    }

    void tell(Consumer<HapaxListener> event) {
        for (HapaxListener listener : listeners) {
            try {
                event.accept(listener);
            } catch (Throwable thrown) {
                log.error(
                        "Listener {} failed; the operation is not affected",
                        listener.getClass().getName(),
                        thrown);
            }
        }
    }
}
