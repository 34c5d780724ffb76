package dev.hapax.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class JsonPointerTest {
    /** The document of RFC 6901, section 5. */
    private static final CanonicalJson DOCUMENT =
            CanonicalJson.of(Api.bytes("""
                            {"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\\\j": 5,
                             "k\\"l": 6, " ": 7, "m~n": 8}
                            """)).orElseThrow();

    @ParameterizedTest
    @CsvSource(
            delimiter = ',',
            quoteCharacter = '`',
            ignoreLeadingAndTrailingWhitespace = false,
            value = {
                "/foo/0,bar",
                "/foo/1,baz",
                "/,0",
                "/a~1b,1",
                "/c%d,2",
                "/e^f,3",
                "/g|h,4",
                "/i\\j,5",
                "/k\"l,6",
                "/ ,7",
                "/m~0n,8"
            })
    void leadsToWhatTheStandardSays(String pointer, String value) {
        assertThat(DOCUMENT.scalar(JsonPointer.of(pointer))).contains(value);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "/foo", "/foo/2", "/foo/-", "/foo/01", "/foo/-1", "/foo/99999999999", "/foo/0/x", "/x", "//"
            })
    void leadsToNoScalarElsewhere(String pointer) {
        assertThat(DOCUMENT.scalar(JsonPointer.of(pointer))).isEqualTo(Optional.empty());
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "a/b", "/~", "/~2", "/a~"})
    void saysWhatIsWrongWithAPointer(String text) {
        assertThatThrownBy(() -> JsonPointer.of(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining('"' + text + '"');
    }

    @Test
    void pointersAreEqualByTheirText() {
        assertThat(JsonPointer.of("/a")).isEqualTo(JsonPointer.of("/a")).hasSameHashCodeAs(JsonPointer.of("/a"));
        assertThat(JsonPointer.of("/a")).isNotEqualTo(JsonPointer.of("/b")).hasToString("/a");
    }
}
