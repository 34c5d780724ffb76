package dev.hapax.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class CanonicalJsonTest {

    private static String digest(String json) {
        return digest(json.getBytes(StandardCharsets.UTF_8)).orElseThrow(() -> new AssertionError("not JSON: " + json));
    }

    static Optional<String> digest(byte[] body) {
        return CanonicalJson.of(body).map(json -> {
            Hashing hash = Hashing.with(new byte[0]);
            json.addTo(hash);
            return hash.hex();
        });
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    {"a":1,"b":2}             | {"b":2,"a":1}
                    {"a":1}                   | ` { "a" : 1 } `
                    [1,2]                     | [ 1 , 2 ]
                    {"a":{"x":1,"y":[]}}      | {"a":{"y":[],"x":1}}
                    "a"                       | "\\u0061"
                    "/"                       | "\\/"
                    "é"                       | "\\u00e9"
                    "😀"                      | "\\uD83D\\uDE00"
                    {"\\u0061":1}             | {"a":1}
                    1                         | 1.0
                    1                         | 1e0
                    1                         | 1.000E+00
                    100                       | 1e2
                    0.001                     | 1e-3
                    123.4500                  | 12345e-2
                    0                         | -0
                    0                         | 0.00e5
                    -1.5                      | -15e-1
                    1000000                   | 1e000006
                    """)
    void spellingsOfOneValueAreOne(String one, String other) {
        assertThat(digest(one)).isEqualTo(digest(other));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    [1,2]                | [2,1]
                    9007199254740993     | 9007199254740992
                    0.1                  | 0.10000000000000000555
                    1e400                | 1e401
                    1                    | -1
                    1                    | "1"
                    null                 | "null"
                    true                 | false
                    {}                   | []
                    {"a":null}           | {}
                    {"a":"b"}            | {"b":"a"}
                    ["a","bc"]           | ["ab","c"]
                    [["a"],"b"]          | [["a","b"]]
                    [[],[]]              | [[[]]]
                    {"a":{},"b":1}       | {"a":{"b":1}}
                    "é"                  | "e\\u0301"
                    "\\ud800"            | "\\ud801"
                    "\\ud800"            | "?"
                    "\\ud800"            | "\\ufffd"
                    12                   | 120
                    1.2                  | 12
                    """)
    void differentValuesDiffer(String one, String other) {
        assertThat(digest(one)).isNotEqualTo(digest(other));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"a\":1,\"a\":1}",
                "{\"a\":1,\"b\":2,\"a\":3}",
                "{\"a\":1,\"\\u0061\":2}",
                "[{\"x\":{\"b\":1,\"b\":1}}]",
                "{\"\":1,\"\":2}"
            })
    void membersOfTheSameNameAreRefused(String json) {
        assertThatThrownBy(() -> digest(json))
                .isInstanceOfSatisfying(
                        ProblemException.class,
                        refused -> assertThat(refused.problem()).isEqualTo(Problem.REQUEST_INVALID));
    }

    @Test
    void membersOfTheSameNameAreFoundAmongMany() {
        String members =
                IntStream.range(0, 5000).mapToObj(i -> "\"m" + i + "\":1").collect(Collectors.joining(","));
        assertThat(digest("{" + members + "}")).isNotEmpty();
        assertThatThrownBy(() -> digest("{" + members + ",\"m7\":1}")).isInstanceOf(ProblemException.class);
    }

    @Test
    void manyMembersInAnyOrderAreOne() {
        String up = IntStream.range(0, 5000).mapToObj(i -> "\"" + i + "\":" + i).collect(Collectors.joining(","));
        String down = IntStream.range(0, 5000)
                .map(i -> 4999 - i)
                .mapToObj(i -> "\"" + i + "\":" + i)
                .collect(Collectors.joining(","));
        assertThat(digest("{" + up + "}")).isEqualTo(digest("{" + down + "}"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "{",
                "}",
                "{]",
                "[1,]",
                "{\"a\":1,}",
                "{a:1}",
                "'a'",
                "\"a",
                "\"\\x\"",
                "\"\n\"",
                "01",
                "1.",
                ".5",
                "+1",
                "1e",
                "-",
                "NaN",
                "Infinity",
                "tru",
                "1 2",
                "{} x",
                "[1] [2]",
                "// c\n1",
                "\"\\ud8\"",
                "{\"\\ud800\":1}"
            })
    void whatIsNotJsonIsNotRead(String text) {
        assertThat(digest(text.getBytes(StandardCharsets.UTF_8))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "22c02f22", // an overlong slash
                "22eda08022", // a surrogate
                "22f490808022", // above U+10FFFF
                "22ff22",
                "22c322",
                "22e28222",
                "7b002200610022003a00310000007d00", // UTF-16
                "fffe7b007d00",
                "feff007b007d",
                "0000007b0000007d"
            })
    void whatIsNotUtf8IsNotRead(String hex) {
        assertThat(digest(HexFormat.of().parseHex(hex))).isEmpty();
    }

    @Test
    void byteOrderMarkOfUtf8IsNoPartOfTheValue() {
        assertThat(digest(HexFormat.of().parseHex("efbbbf7b7d"))).contains(digest("{}"));
    }

    @Test
    void depthIsBounded() {
        assertThat(digest("[".repeat(100) + "]".repeat(100))).isNotEmpty();
        assertThat(digest(Api.bytes("[".repeat(101) + "]".repeat(101)))).isEmpty();
        assertThat(digest(Api.bytes("[".repeat(1_000_000)))).isEmpty();
        assertThat(digest(Api.bytes("{\"a\":".repeat(1_000_000)))).isEmpty();
    }

    @Test
    void numbersBeyondTheLimitsAreNotRead() {
        assertThat(digest("1".repeat(1000))).isNotEqualTo(digest("1".repeat(999)));
        assertThat(digest(Api.bytes("1".repeat(1001)))).isEmpty();
        assertThat(digest(Api.bytes("0." + "1".repeat(100_000)))).isEmpty();
        assertThat(digest("1e999999999")).isNotEqualTo(digest("1e-999999999"));
        assertThat(digest(Api.bytes("1e9999999999"))).isEmpty();
        assertThat(digest(Api.bytes("1e" + "9".repeat(900)))).isEmpty();
    }

    @Test
    void largeTextsAreRead() {
        assertThat(digest("\"" + "é".repeat(1_000_000) + "\"")).isNotEmpty();
    }

    /** Names whose hashes collide are a known way to make parsers slow. */
    @Test
    void manyNamesThatCollideAreReadOrLeftAsBytes() {
        StringBuilder json = new StringBuilder("{");
        for (int i = 0; i < 1 << 12; i++) {
            StringBuilder name = new StringBuilder();
            for (int bit = 0; bit < 12; bit++) {
                name.append((i >> bit & 1) == 0 ? "Aa" : "BB");
            }
            json.append(i == 0 ? "" : ",").append('"').append(name).append("\":1");
        }
        assertThat(CanonicalJson.of(Api.bytes(json.append('}').toString()))).isNotNull();
    }
}
