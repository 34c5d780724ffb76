package dev.hapax.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class KeySourceTest {
    private static final KeySource FIELD = new KeySource.PayloadField(JsonPointer.of("/transfer/client_reference"));

    private static Match match(KeySource source, Map<String, String> pathValues) {
        Route route =
                new Route("POST", PathPattern.of("/v1/{order_id}/{line}"), "scope", source, HttpPolicy.defaults());
        return new Match(route, "/v1/a/b", pathValues);
    }

    private static HttpRequest request(String body, String... headers) {
        return Api.request(body, headers);
    }

    private static Optional<String> key(KeySource source, HttpRequest request) {
        return source.keyOf(request, match(source, Map.of("order_id", "42", "line", "7")));
    }

    private static Problem refusal(KeySource source, HttpRequest request) {
        try {
            throw new AssertionError("it is accepted as " + key(source, request));
        } catch (ProblemException refused) {
            return refused.problem();
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    "ref-1"              | ref-1
                    "\\u0072ef\\u002d1"  | ref-1
                    42                   | 42
                    42.0                 | 42
                    4.2e1                | 42
                    -1.50                | -1.5
                    0.00012              | 0.00012
                    1e20                 | 100000000000000000000
                    1e400                | 1e400
                    -0                   | 0
                    9007199254740993     | 9007199254740993
                    """)
    void payloadFieldIsAStringOrANumber(String value, String key) {
        assertThat(key(FIELD, request("{\"transfer\":{\"amount\":1,\"client_reference\":" + value + "}}")))
                .contains(key);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{}",
                "{\"transfer\":{}}",
                "{\"transfer\":null}",
                "{\"transfer\":{\"client_reference\":null}}",
                "{\"transfer\":\"client_reference\"}",
                "[]",
                "1"
            })
    void payloadFieldThatIsNotThereIsNoKey(String body) {
        assertThat(key(FIELD, request(body))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"true", "false", "{}", "[1]", "\"\"", "\"a b\"", "\"ä\"", "\"\\u0000\"", "\"\\ud800\""})
    void payloadFieldOfAnotherKindIsRefused(String value) {
        assertThat(refusal(FIELD, request("{\"transfer\":{\"client_reference\":" + value + "}}")))
                .isEqualTo(Problem.KEY_INVALID);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"client_reference=1", "{", "{} {}", "{\"a\":1,\"a\":2}", "{'a':1}", "{\"a\":NaN}", "{\"a\":01}"})
    void bodyThatIsNotJsonIsRefusedWhereAMemberIsNeeded(String body) {
        assertThat(refusal(FIELD, request(body))).isEqualTo(Problem.REQUEST_INVALID);
    }

    @Test
    void bodyThatIsTooDeepOrNotUtf8IsRefusedWhereAMemberIsNeeded() {
        String deep = "[".repeat(101) + "]".repeat(101);
        assertThat(refusal(FIELD, request(deep))).isEqualTo(Problem.REQUEST_INVALID);
        HttpRequest latin = new HttpRequest("POST", "/", "", Headers.NONE, new byte[] {'"', (byte) 0xE9, '"'}, null);
        assertThat(refusal(FIELD, latin)).isEqualTo(Problem.REQUEST_INVALID);
        assertThat(refusal(FIELD, request("{}", "Content-Type", "application/json; charset=iso-8859-1")))
                .isEqualTo(Problem.REQUEST_INVALID);
    }

    @Test
    void memberIsFoundWhateverTheContentTypeSays() {
        String body = "{\"transfer\":{\"client_reference\":\"r\"}}";
        assertThat(key(FIELD, request(body, "Content-Type", "application/x-www-form-urlencoded")))
                .contains("r");
        assertThat(key(FIELD, request(body))).contains("r");
    }

    @Test
    void tooLongFieldIsRefused() {
        String body = "{\"transfer\":{\"client_reference\":\"%s\"}}";
        assertThat(key(FIELD, request(body.formatted("r".repeat(255))))).contains("r".repeat(255));
        assertThat(refusal(FIELD, request(body.formatted("r".repeat(256))))).isEqualTo(Problem.KEY_INVALID);
    }

    @Test
    void naturalKeyIsReadable() {
        KeySource natural = new KeySource.Natural(
                List.of("order_id", "line"), List.of(JsonPointer.of("/customer"), JsonPointer.of("/n")));
        assertThat(key(natural, request("{\"customer\":\"cus_1\",\"n\":3.0}"))).contains("42/7/cus_1/3");
    }

    @Test
    void naturalKeysOfDifferentValuesDiffer() {
        assertThat(natural("a", "bc")).isNotEqualTo(natural("ab", "c"));
        assertThat(natural("a/b", "c")).isEqualTo("a%2Fb/c").isNotEqualTo(natural("a", "b/c"));
        assertThat(natural("a%2Fb", "c")).isNotEqualTo(natural("a/b", "c"));
        assertThat(natural("é", " ")).isEqualTo("%C3%A9/%20");
        assertThat(natural("x".repeat(300), "y")).hasSize(65).startsWith("#");
        assertThat(natural("x".repeat(300), "y")).isNotEqualTo(natural("x".repeat(299), "xy"));
        assertThat(natural("x".repeat(126), "y".repeat(128))).hasSize(255).doesNotStartWith("#");
        String hash = natural("x".repeat(300), "y");
        assertThat(natural(hash, "y")).isNotEqualTo(hash).doesNotStartWith("#");
    }

    private static String natural(String first, String second) {
        KeySource natural = new KeySource.Natural(List.of("order_id", "line"), List.of());
        return natural.keyOf(request(""), match(natural, Map.of("order_id", first, "line", second)))
                .orElseThrow();
    }

    @Test
    void naturalKeyNeedsAllOfItsValues() {
        KeySource natural = new KeySource.Natural(List.of("order_id"), List.of(JsonPointer.of("/n")));
        assertThat(key(natural, request("{}"))).isEmpty();
        assertThat(key(natural, request(""))).isEmpty();
        assertThat(key(natural, request("{\"n\":null}"))).isEmpty();
        assertThat(refusal(natural, request("{\"n\":\"\"}"))).isEqualTo(Problem.KEY_INVALID);
        assertThat(refusal(natural, request("{\"n\":[]}"))).isEqualTo(Problem.KEY_INVALID);
        assertThat(refusal(natural, request("n=1"))).isEqualTo(Problem.REQUEST_INVALID);
        assertThatThrownBy(() -> new KeySource.Natural(List.of(), List.of()))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static String hash(KeySource.BodyHash source, String body, String... headers) {
        return key(source, request(body, headers)).orElseThrow();
    }

    private static KeySource.BodyHash bodyHash(String... members) {
        return new KeySource.BodyHash(
                List.of(members).stream().map(JsonPointer::of).toList(),
                KeySource.BodyHash.DEFAULT_INTENT_HEADER,
                Api.bytes("secret"));
    }

    @Test
    void bodyHashIgnoresHowJsonIsWritten() {
        KeySource.BodyHash all = bodyHash();
        String json = "application/json";
        assertThat(hash(all, "{\"a\":1,\"b\":2}", "Content-Type", json))
                .isEqualTo(hash(all, "{ \"b\":2.0, \"a\":1 }", "Content-Type", json))
                .isNotEqualTo(hash(all, "{\"a\":1,\"b\":3}", "Content-Type", json));
        assertThat(hash(all, "{\"a\":1}")).isNotEqualTo(hash(all, "{\"a\": 1}"));
    }

    @Test
    void bodyHashCoversOnlyTheChosenMembers() {
        KeySource.BodyHash some = bodyHash("/email", "/plan");
        String[] json = {"Content-Type", "application/json"};
        String key = hash(some, "{\"email\":\"a\",\"plan\":\"b\",\"at\":1}", json);
        assertThat(key).isEqualTo(hash(some, "{\"at\":2,\"plan\":\"b\",\"email\":\"a\"}", json));
        assertThat(key).isNotEqualTo(hash(some, "{\"email\":\"b\",\"plan\":\"a\"}", json));
        assertThat(hash(some, "{\"email\":\"a\"}", json)).isNotEqualTo(hash(some, "{\"plan\":\"a\"}", json));
        assertThat(hash(some, "{\"email\":null}", json)).isNotEqualTo(hash(some, "{}", json));
        assertThat(hash(some, "x=1")).isNotEqualTo(hash(some, "x=2"));
    }

    @Test
    void intentHeaderSetsARepeatApart() {
        KeySource.BodyHash all = bodyHash();
        assertThat(hash(all, "x"))
                .isEqualTo(hash(all, "x", "Other", "1"))
                .isNotEqualTo(hash(all, "x", "Idempotency-Intent", "again"))
                .isNotEqualTo(hash(all, "x", "Idempotency-Intent", ""));
        assertThat(hash(all, "x", "Idempotency-Intent", "ab"))
                .isNotEqualTo(hash(all, "x", "Idempotency-Intent", "a", "Idempotency-Intent", "b"));
    }

    @Test
    void bodyHashDependsOnItsSecretAndOnThePath() {
        KeySource.BodyHash keyed = bodyHash();
        KeySource.BodyHash plain = new KeySource.BodyHash(List.of(), "I", new byte[0]);
        assertThat(hash(keyed, "x")).isNotEqualTo(hash(plain, "x")).hasSize(65);
        Match elsewhere = new Match(match(plain, Map.of()).route(), "/v1/other", Map.of());
        assertThat(plain.keyOf(request("x"), elsewhere)).isNotEqualTo(key(plain, request("x")));
    }

    @Test
    void secretsAreNotPrinted() {
        assertThat(bodyHash().toString()).doesNotContain("secret");
        assertThat(new FingerprintRule(List.of(), Api.bytes("s")).toString()).isEqualTo("FingerprintRule[members=[]]");
    }
}
