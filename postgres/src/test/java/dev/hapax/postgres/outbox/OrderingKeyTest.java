package dev.hapax.postgres.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class OrderingKeyTest {

    /** Rows of one version must have the same key as those of the next one. */
    @Test
    void orderingKeysNeverChange() {
        assertThat(OrderingKey.of("orders", "order-42")).isEqualTo(-321801066339045349L);
        assertThat(OrderingKey.unordered(new UUID(1, 2))).isEqualTo(-8325373484306068638L);
    }

    @Test
    void topicAndAggregateAreNotJustJoined() {
        assertThat(OrderingKey.of("ab", "c")).isNotEqualTo(OrderingKey.of("a", "bc"));
    }

    @Test
    void headersAreReadAsTheyWereWritten() {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("a", "");
        headers.put("b.c", ": x: ");
        headers.put("d-e_F", "Ünï€");

        assertThat(Headers.read(Headers.write(headers))).containsExactlyEntriesOf(headers);
        assertThat(Headers.read("")).isEmpty();
    }

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
