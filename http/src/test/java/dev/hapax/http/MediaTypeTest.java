package dev.hapax.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class MediaTypeTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "application/json",
                "Application/JSON",
                " application/json ; charset=UTF-8",
                "application/json;charset=\"utf-8\"",
                "application/json;charset=utf8;v=2",
                "application/json;",
                "application/problem+json",
                "application/vnd.api+json; ext=\"a;b\"",
                "text/json"
            })
    void isJson(String type) {
        assertThat(MediaType.of(type).isJson()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "application",
                "application/jsonp",
                "application/x-www-form-urlencoded",
                "application/json; charset=iso-8859-1",
                "application/json; charset=utf-16",
                "application/json; charset",
                "application/json; charset=",
                "application/json; charset=utf-8; charset=utf-16",
                "application/json, text/plain",
                "application/json; a=\"b",
                "application/json; a=\"b\"c",
                "text/plain"
            })
    void isNotJson(String type) {
        assertThat(MediaType.of(type).isJson()).isFalse();
    }

    @Test
    void parametersAreReadWithAndWithoutQuotes() {
        MediaType type = MediaType.of("Multipart/Form-Data; Boundary=\"a\\\"b c\" ; x=Y");
        assertThat(type.type()).isEqualTo("multipart/form-data");
        assertThat(type.parameters()).isEqualTo(Map.of("boundary", "a\"b c", "x", "Y"));
        assertThat(type.isMultipart()).isTrue();
    }

    @Test
    void twoTypesAreNone() {
        Headers headers = Headers.of("Content-Type", "application/json", "content-type", "application/json");
        assertThat(MediaType.of(headers).type()).isEmpty();
        assertThat(MediaType.of(Headers.NONE).type()).isEmpty();
    }
}
