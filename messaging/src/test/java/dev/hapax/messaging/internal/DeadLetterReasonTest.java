package dev.hapax.messaging.internal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DeadLetterReasonTest {

    @Test
    void longReasonIsTruncated() {
        assertThat(DeadLetterReason.truncate("x".repeat(1000))).hasSize(1000);
        assertThat(DeadLetterReason.truncate("x".repeat(1001))).isEqualTo("x".repeat(1000));
    }

    @Test
    void surrogatePairIsNotSplit() {
        assertThat(DeadLetterReason.truncate("x".repeat(999) + "\uD83D\uDE00")).isEqualTo("x".repeat(999));
    }
}
