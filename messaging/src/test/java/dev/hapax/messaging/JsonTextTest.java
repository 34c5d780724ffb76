package dev.hapax.messaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class JsonTextTest {
    @Test
    void findsTextsAndNumbersAsTheyAreWritten() {
        String json = """
                {"a":{"x":[1,{"id":"p-1"}]},"id":12345678901234567890.10,"b/c":"slash","~":"tilde"}""";
        assertThat(at("/a/x/1/id", json)).isEqualTo("p-1");
        assertThat(at("/a/x/0", json)).isEqualTo("1");
        assertThat(at("/id", json)).isEqualTo("12345678901234567890.10");
        assertThat(at("/b~1c", json)).isEqualTo("slash");
        assertThat(at("/~0", json)).isEqualTo("tilde");
        assertThat(at("", "\"whole\"")).isEqualTo("whole");
    }

    @Test
    void findsNothingWhereThereIsNothing() {
        String json = """
                {"a":null,"c":{"id":"inner"},"d":["x"],"e":"text"}""";
        for (String pointer : new String[] {"/id", "/a", "/d/1", "/d/id", "/e/id", "/c/id/x"}) {
            assertThat(at(pointer, json)).as(pointer).isNull();
        }
        assertThat(at("/id", "")).isNull();
    }

    @Test
    void refusesWhatIsNeitherTextNorNumber() {
        String json = """
                {"b":true,"c":{"id":"inner"},"d":["x"]}""";
        for (String pointer : new String[] {"/b", "/c", "/d", ""}) {
            assertThatThrownBy(() -> at(pointer, json)).as(pointer).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void aDocumentThatBreaksOffOrSaysAMemberTwiceHasNoKey() {
        for (String json : new String[] {"{\"id\":\"a\"", "{\"id\":\"a\",\"id\":\"b\"}", "{\"id\":\"a\"} x", "no"}) {
            assertThatThrownBy(() -> at("/id", json)).as(json).isInstanceOf(UncheckedIOException.class);
        }
    }

    @Test
    void refusesWhatIsNoPointer() {
        assertThatThrownBy(() -> JsonText.at("id")).isInstanceOf(IllegalArgumentException.class);
    }

    private static String at(String pointer, String json) {
        return JsonText.at(pointer).in(json.getBytes(StandardCharsets.UTF_8));
    }
}
