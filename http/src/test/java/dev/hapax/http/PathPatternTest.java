package dev.hapax.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class PathPatternTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "/**",
                "/v1/charges",
                "/v1/charges/",
                "/v1/orders/{order_id}/invoice",
                "/{a}/{b}/**",
                "/v1.0/a-b_c~d",
                "/v1/users:batch",
                "/@me/$metadata"
            })
    void acceptsPlainPatterns(String text) {
        assertThat(PathPattern.of(text).text()).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    v1/charges      | slash
                    ''              | slash
                    //              | empty segment
                    /v1//charges    | empty segment
                    /v1/*           | **
                    /v1/**/charges  | **
                    /v1/a**         | **
                    /v1/{}          | name
                    /v1/{a b}       | name
                    /v1/{1a}        | name
                    /v1/{a}/{a}     | twice
                    /v1/x{a}        | braces
                    /v1/{a}x        | braces
                    /v1/%63harges   | %
                    /v1/a;b         | plain characters
                    /v1/a?b         | plain characters
                    /v1/a b         | plain characters
                    /v1/ä           | plain characters
                    /v1/..          | dot
                    /v1/./a         | dot
                    /v1/charges.    | dot
                    """)
    void saysWhatIsWrongWithAPattern(String text, String why) {
        assertThatThrownBy(() -> PathPattern.of(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"" + text + "\"")
                .hasMessageContaining(why);
    }

    @Test
    void namesStandForOneSegment() {
        PathPattern pattern = PathPattern.of("/v1/orders/{order_id}/invoice");
        assertThat(pattern.match(List.of("v1", "orders", "42", "invoice"))).contains(Map.of("order_id", "42"));
        assertThat(pattern.match(List.of("v1", "orders", "4", "2", "invoice"))).isEmpty();
        assertThat(pattern.match(List.of("v1", "orders", "invoice"))).isEmpty();
        assertThat(pattern.match(List.of("v1", "orders", "42", "invoice", "x"))).isEmpty();
        assertThat(pattern.names()).containsExactly("order_id");
    }

    @Test
    void restMayBeAnythingOrNothing() {
        PathPattern pattern = PathPattern.of("/v1/**");
        assertThat(pattern.match(List.of("v1"))).isPresent();
        assertThat(pattern.match(List.of("v1", "a", "b"))).isPresent();
        assertThat(pattern.match(List.of("v2", "a"))).isEmpty();
        assertThat(PathPattern.of("/**").match(List.of())).isPresent();
    }

    @Test
    void spellingsOfOnePathHaveOneNormalForm() {
        PathPattern pattern = PathPattern.of("/v1/Orders/{id}");
        assertThat(pattern.normal(List.of("V1", "oRDERS", "Aé b"))).isEqualTo("/v1/Orders/A%C3%A9%20b");
        assertThat(PathPattern.of("/").normal(List.of())).isEqualTo("/");
    }

    @Test
    void patternsAreEqualByTheirText() {
        assertThat(PathPattern.of("/a")).isEqualTo(PathPattern.of("/a")).hasSameHashCodeAs(PathPattern.of("/a"));
        assertThat(PathPattern.of("/a")).isNotEqualTo(PathPattern.of("/b")).hasToString("/a");
    }
}
