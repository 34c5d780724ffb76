package dev.hapax.messaging.webhook;

import java.net.http.HttpHeaders;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import org.jspecify.annotations.Nullable;

/** Reads how long a receiver wants to be left alone: seconds, or a date. What cannot be read was not said. */
final class RetryAfter {
    private static final int MOST_DIGITS = 9;

    private RetryAfter() {}

    static @Nullable Duration read(HttpHeaders headers, Instant now) {
        return headers.firstValue("retry-after")
                .map(value -> read(value.strip(), now))
                .orElse(null);
    }

    private static @Nullable Duration read(String value, Instant now) {
        if (!value.isEmpty() && value.length() <= MOST_DIGITS && value.chars().allMatch(c -> c >= '0' && c <= '9')) {
            return Duration.ofSeconds(Long.parseLong(value));
        }
        try {
            Instant until = ZonedDateTime.parse(value, DateTimeFormatter.RFC_1123_DATE_TIME)
                    .toInstant();
            return until.isAfter(now) ? Duration.between(now, until) : Duration.ZERO;
        } catch (DateTimeException unreadable) {
            return null;
        }
    }
}
