package dev.hapax.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.hapax.store.Payload;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class CodecsTest {
    record Receipt(String number, long cents) {}

    @Test
    void bytesComeBackEqual() throws Exception {
        byte[] bytes = {0, -1, 127, -128};

        assertThat(thereAndBack(Codec.bytes(), bytes)).isEqualTo(bytes);
    }

    @Test
    void storedBytesAreNotTheCallersArray() throws Exception {
        byte[] bytes = {1};
        Payload payload = Codec.bytes().encode(bytes);
        bytes[0] = 2;

        assertThat(payload.body()).containsExactly(1);
    }

    @Test
    void replayedBytesAreNotTheStoredArray() throws Exception {
        Payload payload = Codec.bytes().encode(new byte[] {1});
        Codec.bytes().decode(payload)[0] = 2;

        assertThat(payload.body()).containsExactly(1);
    }

    @Test
    void textIsUtf8() throws Exception {
        assertThat(Codec.text().encode("h\u00e9\ud83d\ude00").body())
                .isEqualTo("h\u00e9\ud83d\ude00".getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void textComesBackEqual() throws Exception {
        assertThat(thereAndBack(Codec.text(), "h\u00e9\ud83d\ude00\u0000")).isEqualTo("h\u00e9\ud83d\ude00\u0000");
    }

    /** A codec that cannot encode says so: then the result is not kept, which is better than another one. */
    @Test
    void textThatIsNotUnicodeIsRefusedRatherThanChanged() {
        assertThatThrownBy(() -> Codec.text().encode("a\ud800")).isInstanceOf(Exception.class);
    }

    @Test
    void nothingComesBackAsNull() throws Exception {
        assertThat(thereAndBack(Codec.nothing(), null)).isNull();
    }

    @Test
    void nothingTakesNoBytes() throws Exception {
        assertThat(Codec.nothing().encode(null).body()).isEmpty();
    }

    @Test
    void recordsComeBackEqual() throws Exception {
        Receipt receipt = new Receipt("r-1", Long.MAX_VALUE);

        assertThat(thereAndBack(Codecs.standard().codecFor(Receipt.class), receipt))
                .isEqualTo(receipt);
    }

    @Test
    void recordsAreStoredAsJson() throws Exception {
        byte[] body = Codecs.standard()
                .codecFor(Receipt.class)
                .encode(new Receipt("r-1", 5))
                .body();

        assertThat(new String(body, StandardCharsets.UTF_8)).isEqualTo("{\"number\":\"r-1\",\"cents\":5}");
    }

    @Test
    void typesWithParametersComeBackEqual() throws Exception {
        Codec<List<Receipt>> codec = new JacksonCodecs().codecFor(new ResultType<List<Receipt>>() {});

        assertThat(thereAndBack(codec, List.of(new Receipt("r-1", 1)))).containsExactly(new Receipt("r-1", 1));
    }

    @Test
    void mappedValuesComeBackEqual() throws Exception {
        Codec<Integer> codec = Codec.text().map(String::valueOf, Integer::valueOf);

        assertThat(thereAndBack(codec, 42)).isEqualTo(42);
        assertThat(codec.encode(42).body()).isEqualTo("42".getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void typeWithoutANameIsRefused() {
        assertThatThrownBy(UnnamedType::new)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("new ResultType<");
    }

    @SuppressWarnings("rawtypes") // that is what is refused
    private static final class UnnamedType extends ResultType {}

    @Test
    void codecsWithoutGenericTypesSayWhatToDo() {
        Codecs textOnly = new Codecs() {
            @Override
            public <T> Codec<T> codecFor(Class<T> type) {
                throw new IllegalArgumentException(type.getName());
            }
        };

        assertThatThrownBy(() -> textOnly.codecFor(new ResultType<List<Receipt>>() {}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("returning(Codec)");
    }

    @Test
    void nullIsAJsonValue() throws Exception {
        assertThat(thereAndBack(Codecs.standard().codecFor(Receipt.class), null))
                .isNull();
    }

    @Test
    void brokenJsonIsNotDecoded() {
        Payload broken = Payload.of(new byte[] {'{'});

        assertThatThrownBy(() -> Codecs.standard().codecFor(Receipt.class).decode(broken))
                .isInstanceOf(JsonProcessingException.class);
    }

    @Test
    void standardCodecsNeedNoJsonForTextBytesAndNothing() {
        Codecs standard = Codecs.standard();

        assertThat(standard.codecFor(String.class)).isSameAs(Codec.text());
        assertThat(standard.codecFor(byte[].class)).isSameAs(Codec.bytes());
        assertThat(standard.codecFor(Void.class)).isSameAs(Codec.nothing());
    }

    private static <T> T thereAndBack(Codec<T> codec, T value) throws Exception {
        return codec.decode(codec.encode(value));
    }
}
