package dev.hapax.messaging.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.junit.jupiter.api.Test;

class BrokerLivenessTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private long now;
    private final BrokerLiveness liveness =
            new BrokerLiveness(new MockConsumer<>("earliest"), true, TIMEOUT, () -> now);

    @Test
    void nothingIsKnownBeforeTheFirstAnswer() {
        assertThat(liveness.isAnswering()).isFalse();
    }

    @Test
    void answerCountsUntilTheTimeout() {
        liveness.answered();
        now += TIMEOUT.toNanos();
        assertThat(liveness.isAnswering()).isTrue();
        now++;
        assertThat(liveness.isAnswering()).isFalse();
    }

    @Test
    void failedPollCountsUntilTheNextAnswer() {
        liveness.answered();
        liveness.failed();
        assertThat(liveness.isAnswering()).isFalse();
        liveness.polled();
        assertThat(liveness.isAnswering()).isTrue();
    }
}
