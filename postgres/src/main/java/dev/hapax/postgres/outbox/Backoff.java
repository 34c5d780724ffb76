package dev.hapax.postgres.outbox;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * How long to wait before the next attempt: twice as long each time, with a jitter of up to a half, so that messages
 * that failed together are not retried together.
 */
record Backoff(Duration first, Duration longest) {
    private static final int MAX_DOUBLINGS = 30;
    private static final Duration MAX_RETRY_AFTER = Duration.ofDays(1);

    Backoff {
        if (longest.compareTo(first) < 0) {
            throw new IllegalArgumentException(
                    "the longest pause is %s, shorter than the first one of %s".formatted(longest, first));
        }
    }

    /** @param asked the pause that the receiver asked for; used if it is longer, up to a day */
    Duration after(int attempt, @Nullable Duration asked) {
        long millis = first.toMillis() << Math.min(attempt - 1, MAX_DOUBLINGS);
        long most = Math.min(millis < 0 ? Long.MAX_VALUE : millis, longest.toMillis());
        Duration own = Duration.ofMillis(ThreadLocalRandom.current().nextLong(most / 2, most + 1));
        if (asked == null || asked.compareTo(own) <= 0) {
            return own;
        }
        return asked.compareTo(MAX_RETRY_AFTER) > 0 ? MAX_RETRY_AFTER : asked;
    }
}
