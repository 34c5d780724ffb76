package dev.hapax.postgres.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BackoffTest {
    @Test
    void pausesDoubleWithJitter() {
        Backoff backoff = new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(10));

        for (int attempt = 1; attempt < 200; attempt++) {
            long most = Math.min(1_000L << Math.min(attempt - 1, 20), 600_000);
            assertThat(backoff.after(attempt, null)).isBetween(Duration.ofMillis(most / 2), Duration.ofMillis(most));
        }
        assertThat(IntStream.range(0, 20).mapToObj(i -> backoff.after(10, null)).distinct())
                .hasSizeGreaterThan(1);
    }

    @Test
    void retryAfterIsHonouredUpToADay() {
        Backoff backoff = new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(10));

        assertThat(backoff.after(1, Duration.ofMinutes(30))).isEqualTo(Duration.ofMinutes(30));
        assertThat(backoff.after(1, Duration.ofDays(300))).isEqualTo(Duration.ofDays(1));
        assertThat(backoff.after(30, Duration.ofSeconds(1))).isGreaterThan(Duration.ofMinutes(4));
    }
}
