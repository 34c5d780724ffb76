package dev.hapax.postgres.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.UUID;
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
}
