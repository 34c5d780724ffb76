package dev.hapax.messaging.sqs;

import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps messages hidden from others: asks SQS again when a third of their visibility has passed. Looks at them every
 * sixth of it, so that several travel in one request. Confined to the loop's thread.
 */
final class VisibilityKeeper {
    private static final Logger log = LoggerFactory.getLogger(VisibilityKeeper.class);

    private final Requests requests;
    private final long visibilityNanos;
    private long nextPass = System.nanoTime();

    VisibilityKeeper(Requests requests, Duration visibility) {
        this.requests = requests;
        this.visibilityNanos = visibility.toNanos();
    }

    /** When {@link #keepHidden} has to be called next, as {@link System#nanoTime} counts. */
    long nextPass() {
        return nextPass;
    }

    /** Asks for those that are due and not asked for already: while SQS does not answer, requests must not pile up. */
    void keepHidden(Collection<ReceivedMessage> messages, long now) {
        if (nextPass - now > 0) {
            return;
        }
        nextPass = now + visibilityNanos / 6;
        for (ReceivedMessage it : messages) {
            if (it.visibilityChange.isDone() && it.hiddenUntil - now < visibilityNanos * 2 / 3) {
                it.hiddenUntil = now + visibilityNanos;
                it.visibilityChange = requests.keepHidden(it.message);
                it.visibilityChange.thenAccept(hidden -> {
                    if (!hidden) {
                        log.debug("{} could not be kept hidden", it.message);
                    }
                });
            }
        }
    }

    /**
     * Shows it to others after this time. An earlier request that has not been carried out must not follow: it is
     * dropped.
     */
    CompletableFuture<Boolean> show(ReceivedMessage it, Duration hidden) {
        it.visibilityChange.complete(false);
        it.visibilityChange = requests.changeVisibility(it.message, hidden);
        return it.visibilityChange;
    }
}
