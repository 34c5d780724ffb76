package dev.hapax.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.store.Fingerprint;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class FingerprintsTest {
    private static final String[] JSON = {"Content-Type", "application/json"};

    private static Fingerprint of(HttpRequest request) {
        return of(request, FingerprintRule.WHOLE);
    }

    private static Fingerprint of(HttpRequest request, FingerprintRule rule) {
        return of(request, KeySource.Header.DEFAULT, rule);
    }

    private static Fingerprint of(HttpRequest request, KeySource key, FingerprintRule rule) {
        HttpPolicy policy = new HttpPolicy(true, HttpPolicy.ServerErrors.STORE, rule, Set.of());
        Route route = new Route(request.method(), PathPattern.of("/**"), "scope", key, policy);
        return Fingerprints.of(new Content(request), new Match(route, request.path(), Map.of()));
    }

    private static HttpRequest request(String method, String path, String query, String body, String... headers) {
        return new HttpRequest(method, path, query, Headers.of(headers), Api.bytes(body), null);
    }

    private static HttpRequest body(String body, String... headers) {
        return request("POST", "/p", "", body, headers);
    }

    @Test
    void coversMethodPathQueryTypeAndBody() {
        Fingerprint first = of(request("POST", "/p", "q=1", "b", "Content-Type", "text/plain"));
        assertThat(List.of(
                        of(request("PUT", "/p", "q=1", "b", "Content-Type", "text/plain")),
                        of(request("POST", "/p2", "q=1", "b", "Content-Type", "text/plain")),
                        of(request("POST", "/p", "q=2", "b", "Content-Type", "text/plain")),
                        of(request("POST", "/p", "q=1", "b", "Content-Type", "text/html")),
                        of(request("POST", "/p", "q=1", "b")),
                        of(request("POST", "/p", "q=1", "c", "Content-Type", "text/plain")),
                        of(request("POST", "/p", "q=1", "", "Content-Type", "text/plain")),
                        of(request("POST", "/p", "q=1", "b", "Content-Type", "text/plain", "Content-Encoding", "br"))))
                .doesNotHaveDuplicates()
                .doesNotContain(first);
        assertThat(of(request("POST", "/p", "q=1", "b", "content-type", "Text/Plain", "X-Trace", "t")))
                .isEqualTo(first);
    }

    @Test
    void nothingCanBeMovedFromOnePartToTheNext() {
        assertThat(of(request("POST", "/p", "a", "b"))).isNotEqualTo(of(request("POST", "/p", "ab", "")));
        assertThat(of(request("POST", "/pa", "", "b"))).isNotEqualTo(of(request("POST", "/p", "a", "b")));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    application/json          | application/json; charset=utf-8     | true
                    application/json          | APPLICATION/JSON;charset="UTF-8"    | true
                    application/json;v=1      | application/json;v=2                | false
                    application/json;a=1;b=2  | application/json; b=2; a=1          | true
                    application/json          | application/x+json                  | false
                    text/plain;charset=UTF-8  | text/plain; charset=utf-8           | true
                    text/plain;charset=utf-8  | text/plain; charset=iso-8859-1      | false
                    text/plain                | text/plain; charset=utf-8           | false
                    nonsense                  | other nonsense                      | false
                    """)
    void typeCountsWithItsParameters(String one, String other, boolean same) {
        boolean equal = of(body("{}", "Content-Type", one)).equals(of(body("{}", "Content-Type", other)));
        assertThat(equal).isEqualTo(same);
    }

    @Test
    void jsonIsComparedByWhatItSays() {
        assertThat(of(body("{\"a\":1,\"b\":[1,2]}", JSON))).isEqualTo(of(body("{ \"b\" : [1.0,2], \"a\":1e0}", JSON)));
        assertThat(of(body("{\"a\":1}", JSON))).isNotEqualTo(of(body("{\"a\":2}", JSON)));
        assertThat(of(body("{\"a\": 1}", "Content-Type", "text/plain")))
                .isNotEqualTo(of(body("{\"a\":1}", "Content-Type", "text/plain")));
    }

    @Test
    void jsonWithMembersOfTheSameNameIsRefused() {
        assertThatThrownBy(() -> of(body("{\"a\":1,\"a\":2}", JSON))).isInstanceOf(ProblemException.class);
        assertThat(of(body("{\"a\":1,\"a\":2}", "Content-Type", "text/plain"))).isNotNull();
    }

    @Test
    void whatIsNotJsonAfterAllIsComparedByItsBytes() {
        String deep = "[".repeat(200) + "]".repeat(200);
        assertThat(of(body(deep, JSON))).isEqualTo(of(body(deep, JSON))).isNotEqualTo(of(body(deep + " ", JSON)));
        String broken = "{\"a\":";
        assertThat(of(body(broken, JSON))).isEqualTo(of(body(broken, JSON))).isNotEqualTo(of(body(broken + " ", JSON)));
        String huge = "1e99999999999";
        assertThat(of(body(huge, JSON))).isNotEqualTo(of(body("1e99999999998", JSON)));
        String[] zipped = {"Content-Type", "application/json", "Content-Encoding", "gzip"};
        assertThat(of(body("{}", zipped))).isNotEqualTo(of(body("{ }", zipped)));
        String[] latin = {"Content-Type", "application/json; charset=iso-8859-1"};
        assertThat(of(body("{}", latin))).isNotEqualTo(of(body("{ }", latin)));
    }

    @Test
    void onlyChosenMembersCount() {
        FingerprintRule rule = new FingerprintRule(List.of(JsonPointer.of("/a"), JsonPointer.of("/b/c")), new byte[0]);
        Fingerprint first = of(body("{\"a\":1,\"b\":{\"c\":2},\"at\":1}", JSON), rule);
        assertThat(of(body("{\"at\":9,\"b\":{\"d\":1,\"c\":2},\"a\":1}", JSON), rule))
                .isEqualTo(first);
        assertThat(of(body("{\"a\":2,\"b\":{\"c\":1}}", JSON), rule)).isNotEqualTo(first);
        assertThat(of(body("{\"a\":1}", JSON), rule)).isNotEqualTo(first);
        assertThat(of(body("a=1"), rule)).isNotEqualTo(of(body("a=2"), rule));
    }

    @Test
    void bodyHashWithMembersMakesOnlyThemCount() {
        KeySource.BodyHash hash = new KeySource.BodyHash(List.of(JsonPointer.of("/a")), "I", new byte[0]);
        HttpRequest one = body("{\"a\":1,\"at\":1}", JSON);
        HttpRequest other = body("{\"a\":1,\"at\":2}", JSON);
        assertThat(of(one, hash, FingerprintRule.WHOLE)).isEqualTo(of(other, hash, FingerprintRule.WHOLE));
        FingerprintRule at = new FingerprintRule(List.of(JsonPointer.of("/at")), new byte[0]);
        assertThat(of(one, hash, at)).isNotEqualTo(of(other, hash, at));
    }

    @Test
    void secretMakesItAnotherDigest() {
        HttpRequest request = body("b");
        Fingerprint keyed = of(request, new FingerprintRule(List.of(), Api.bytes("secret")));
        assertThat(keyed)
                .isNotEqualTo(of(request))
                .isNotEqualTo(of(request, new FingerprintRule(List.of(), Api.bytes("other"))))
                .isEqualTo(of(request, new FingerprintRule(List.of(), Api.bytes("secret"))));
    }

    @Test
    void multipartIsComparedByItsParts() {
        assertThat(of(form("AaB", "v1"))).isEqualTo(of(form("XyZ", "v1"))).isNotEqualTo(of(form("AaB", "v2")));
    }

    private static HttpRequest form(String boundary, String value) {
        return body(
                "--%1$s\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\n%2$s\r\n--%1$s--\r\n"
                        .formatted(boundary, value),
                "Content-Type",
                "multipart/form-data; boundary=" + boundary);
    }
}
