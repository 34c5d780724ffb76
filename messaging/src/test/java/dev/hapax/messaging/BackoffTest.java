package dev.hapax.messaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

class BackoffTest {
    private final Backoff backoff = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(2));

    @RepeatedTest(50)
    void doublesGiveOrTakeAFifthUpToTheLongest() {
        assertThat(backoff.after(1)).isBetween(Duration.ofMillis(80), Duration.ofMillis(120));
        assertThat(backoff.after(3)).isBetween(Duration.ofMillis(320), Duration.ofMillis(480));
        assertThat(backoff.after(1000)).isBetween(Duration.ofMillis(1600), Duration.ofMillis(2000));
        assertThat(backoff.after(0)).isBetween(Duration.ofMillis(80), Duration.ofMillis(120));
    }

    @Test
    void refusesDelaysThatMakeNoSense() {
        assertThatThrownBy(() -> new Backoff(Duration.ZERO, Duration.ofSeconds(1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Backoff(Duration.ofSeconds(2), Duration.ofSeconds(1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Backoff(Duration.ofSeconds(2), Duration.ofDays(2)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
