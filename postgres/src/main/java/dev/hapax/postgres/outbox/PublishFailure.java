package dev.hapax.postgres.outbox;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Why a message was not published, and what follows.
 *
 * @param reason human-readable; stored with the message
 * @param retryIn {@code null} if the message is parked
 */
record PublishFailure(String reason, @Nullable Duration retryIn) {
    boolean isParked() {
        return retryIn == null;
    }
}
