package dev.hapax.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OutboxMessageTest {
    private static final byte[] BODY = "body".getBytes(StandardCharsets.UTF_8);

    @Test
    void everySetterLeavesTheOthersAlone() {
        UUID id = UUID.randomUUID();

        OutboxMessage message = OutboxMessage.to("orders", BODY)
                .header("type", "placed")
                .id(id)
                .aggregate("order-42")
                .header("version", "2");

        assertThat(message)
                .isEqualTo(new OutboxMessage(
                        id, "orders", "order-42", Map.of("type", "placed", "version", "2"), BODY.clone()));
        assertThat(message.headers().keySet()).containsExactly("type", "version");
    }

    @Test
    void twoMessagesHaveTwoIds() {
        assertThat(OutboxMessage.to("orders", BODY).id())
                .isNotEqualTo(OutboxMessage.to("orders", BODY).id());
    }

    @Test
    void headersCannotBeChangedFromOutside() {
        Map<String, String> headers = new HashMap<>(Map.of("a", "1"));
        OutboxMessage message = new OutboxMessage(UUID.randomUUID(), "orders", null, headers, BODY);

        headers.put("b", "2");

        assertThat(message.headers()).containsExactly(Map.entry("a", "1"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "a:b", "ä", "a\nb", "hapax-id"})
    void refusesNamesOfHeadersThatNotEveryBrokerCanCarry(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> OutboxMessage.to("orders", BODY).header(name, "value"));
    }

    @Test
    void refusesWhatWouldBreakOutOfAHeader() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> OutboxMessage.to("orders", BODY).header("name", "one\r\ntwo: 2"))
                .withMessageContaining("control character");
    }

    @Test
    void refusesTopicsAndAggregatesThatCannotBeStored() {
        assertThatIllegalArgumentException().isThrownBy(() -> OutboxMessage.to("", BODY));
        assertThatIllegalArgumentException().isThrownBy(() -> OutboxMessage.to("a\0b", BODY));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> OutboxMessage.to("orders", BODY).aggregate("x".repeat(256)))
                .withMessageContaining("256 characters");
    }

    @Test
    void neverPrintsTheBody() {
        assertThat(OutboxMessage.to("orders", BODY).toString())
                .doesNotContain("body")
                .contains("4 bytes");
    }

    @Test
    void theFirstAttemptIsOne() {
        OutboxMessage message = OutboxMessage.to("orders", BODY);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Outgoing(message, Instant.EPOCH, 0, Duration.ofSeconds(10)));
    }

    @Test
    void foldGivesEachResultItsOwnWay() {
        assertThat(PublishResult.published().<String>fold(p -> "published", f -> "failed", r -> "refused"))
                .isEqualTo("published");
        assertThat(PublishResult.failed("busy")
                        .<String>fold(p -> "published", PublishResult.Failed::reason, r -> "refused"))
                .isEqualTo("busy");
        assertThat(PublishResult.refused("gone")
                        .<String>fold(p -> "published", f -> "failed", PublishResult.Refused::reason))
                .isEqualTo("gone");
    }
}
