package dev.hapax.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.codec.NotKeptException;
import dev.hapax.store.Payload;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class StoredHeadersTest {

    private static HttpPolicy keeping(String... names) {
        return new HttpPolicy(true, HttpPolicy.ServerErrors.STORE, FingerprintRule.WHOLE, Set.of(names));
    }

    private static Headers stored(HttpPolicy policy, String... headers) throws NotKeptException {
        ResponseCodec codec = new ResponseCodec(policy);
        return codec.decode(codec.encode(Api.created("b", headers))).headers();
    }

    @Test
    void keepsWhatDescribesTheBodyInOrderAndAsItWas() throws NotKeptException {
        String[] headers = {
            "Content-Type", "application/json",
            "ETag", "\"a\"",
            "Link", "</a>; rel=\"next\"",
            "LOCATION", "/v1/charges/1",
            "Link", "</b>; rel=\"prev\"",
            "Cache-Control", "",
            "Vary", "a: b"
        };
        assertThat(stored(HttpPolicy.defaults(), headers)).isEqualTo(Headers.of(headers));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Set-Cookie",
                "set-cookie2",
                "Connection",
                "Keep-Alive",
                "Transfer-Encoding",
                "TE",
                "Trailer",
                "Upgrade",
                "Proxy-Authenticate",
                "Proxy-Connection",
                "Content-Length",
                "Date",
                "Age",
                "Hapax-Operation-Id",
                "HAPAX-RECORDED",
                "Hapax-Anything",
                "Idempotent-Replayed"
            })
    void someHeadersAreNeverStoredAndCannotBeAskedFor(String name) throws NotKeptException {
        assertThat(stored(HttpPolicy.defaults(), name, "x")).isEqualTo(Headers.NONE);
        assertThatThrownBy(() -> keeping("X-Ok", name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(name)
                .hasMessageContaining("never stored");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "a:b", "ä", "a\n"})
    void whatIsNoNameCannotBeAskedFor(String name) {
        assertThatThrownBy(() -> keeping(name)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void otherHeadersAreKeptWhereTheRouteSaysSo() throws NotKeptException {
        assertThat(stored(keeping("X-Charge-ID"), "x-charge-id", "1", "X-Other", "2"))
                .isEqualTo(Headers.of("x-charge-id", "1"));
    }

    @Test
    void whatTheConnectionNamesBelongsToIt() throws NotKeptException {
        assertThat(stored(keeping("X-Hop"), "X-Hop", "1", "ETag", "e", "Connection", "close, x-hop"))
                .isEqualTo(Headers.of("ETag", "e"));
    }

    @Test
    void noValueMakesTwoHeaders() throws NotKeptException {
        assertThat(stored(HttpPolicy.defaults(), "Location", "/a\r\nSet-Cookie: b=c\n\0"))
                .isEqualTo(Headers.of("Location", "/a  Set-Cookie: b=c  "));
    }

    @Test
    void valuesOutsideAsciiComeBackAsTheyWere() throws NotKeptException {
        Headers headers = Headers.of("Content-Disposition", "attachment; filename=\"\u00e9\u00ff\"");
        assertThat(stored(HttpPolicy.defaults(), "Content-Disposition", "attachment; filename=\"\u00e9\u00ff\""))
                .isEqualTo(headers);
    }

    @Test
    void statusAndBytesAreKeptAsTheyAre() throws NotKeptException {
        byte[] body = {0, 1, (byte) 0xFF, '\n'};
        ResponseCodec codec = new ResponseCodec(HttpPolicy.defaults());
        Payload payload = codec.encode(new HttpResponse(418, Headers.NONE, body));
        assertThat(payload.code()).isEqualTo(418);
        assertThat(payload.body()).isSameAs(body);
        assertThat(codec.decode(payload).status()).isEqualTo(418);
        assertThat(codec.decode(payload).body()).isSameAs(body);
    }

    @Test
    void responseWithARestIsNotKept() {
        HttpResponse large = new HttpResponse(201, Headers.NONE, new byte[10], "the rest");
        assertThatThrownBy(() -> new ResponseCodec(HttpPolicy.defaults()).encode(large))
                .isInstanceOfSatisfying(
                        NotKeptException.class,
                        notKept -> assertThat(notKept.code()).isEqualTo(201));
    }

    @Test
    void whatIsNotStoredHeadersIsNotRead() {
        ResponseCodec codec = new ResponseCodec(HttpPolicy.defaults());
        for (String lines : new String[] {"x", "a: b", "a\nb: c\n"}) {
            assertThatThrownBy(() -> codec.decode(new Payload(200, Api.bytes(lines), new byte[0])))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
