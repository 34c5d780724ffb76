package dev.hapax.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ResultTest {

    @ParameterizedTest
    @EnumSource(names = {"PENDING", "PROCESSING", "IN_DOUBT"})
    void onlyTerminalStatesAreResults(State state) {
        assertThatIllegalArgumentException().isThrownBy(() -> new Result(state, 0, null, null));
    }

    @Test
    void codeAndPayloadAgree() {
        Payload payload = new Payload(201, new byte[0], new byte[0]);

        assertThatIllegalArgumentException().isThrownBy(() -> new Result(State.COMPLETED, 200, payload, null));
    }

    @Test
    void aTombstoneKeepsTheCode() {
        assertThat(Result.notStored(201, "too large")).isEqualTo(new Result(State.COMPLETED, 201, null, "too large"));
    }

    @Test
    void nobodyCameIsATimeout() {
        assertThat(Result.timedOut().code()).isEqualTo(408);
    }

    @Test
    void payloadsAreComparedByContent() {
        assertThat(new Payload(1, new byte[] {2}, new byte[] {3}))
                .isEqualTo(new Payload(1, new byte[] {2}, new byte[] {3}))
                .hasSameHashCodeAs(new Payload(1, new byte[] {2}, new byte[] {3}))
                .isNotEqualTo(new Payload(0, new byte[] {2}, new byte[] {3}))
                .isNotEqualTo(new Payload(1, new byte[] {9}, new byte[] {3}))
                .isNotEqualTo(new Payload(1, new byte[] {2}, new byte[] {9}));
    }

    @Test
    void aPayloadDoesNotShowItsBytes() {
        assertThat(Payload.of("secret".getBytes(java.nio.charset.StandardCharsets.UTF_8)))
                .asString()
                .contains("6 bytes")
                .doesNotContain("secret");
    }
}
