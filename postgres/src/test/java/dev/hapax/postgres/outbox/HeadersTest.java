package dev.hapax.postgres.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HeadersTest {
    @Test
    void headersAreReadAsTheyWereWritten() {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("a", "");
        headers.put("b.c", ": x: ");
        headers.put("d-e_F", "Ünï€");

        assertThat(Headers.read(Headers.write(headers))).containsExactlyEntriesOf(headers);
        assertThat(Headers.read("")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "a: b", "a\n", "a: b\nc"})
    void linesThatAreNoHeadersAreRefused(String lines) {
        assertThatIllegalArgumentException().isThrownBy(() -> Headers.read(lines));
    }
}
