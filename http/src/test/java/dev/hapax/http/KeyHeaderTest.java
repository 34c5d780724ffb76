package dev.hapax.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class KeyHeaderTest {
    private static final KeySource.Header LENIENT = KeySource.Header.DEFAULT;
    private static final KeySource.Header STRICT = new KeySource.Header("Idempotency-Key", true);

    private static Optional<String> read(KeySource.Header source, String... values) {
        String[] headers = new String[2 * values.length];
        for (int i = 0; i < values.length; i++) {
            headers[2 * i] = i % 2 == 0 ? "Idempotency-Key" : "idempotency-key";
            headers[2 * i + 1] = values[i];
        }
        return KeyHeader.read(Headers.of(headers), source);
    }

    private static Problem refusal(KeySource.Header source, String... values) {
        try {
            throw new AssertionError("it is accepted as " + read(source, values));
        } catch (ProblemException refused) {
            return refused.problem();
        }
    }

    @ParameterizedTest
    @CsvSource(quoteCharacter = '`', textBlock = """
                    "8e03978e-40d5-43dd-bc93-6894a57f9324", 8e03978e-40d5-43dd-bc93-6894a57f9324
                    "k",                                    k
                    ` "k" `,                                k
                    `\t"k"\t`,                              k
                    "a\\"b",                                a"b
                    "a\\\\b",                               a\\b
                    "a;b",                                  a;b
                    `"a,b"`,                                `a,b`
                    "?#[]{}|~!",                            ?#[]{}|~!
                    """)
    void stringInQuotesIsTheKeyInBothModes(String value, String key) {
        assertThat(read(STRICT, value)).contains(key);
        assertThat(read(LENIENT, value)).contains(key);
    }

    @ParameterizedTest
    @ValueSource(strings = {"k", "8e03978e-40d5-43dd", "a:b/c=d+e", "a\\b", "'k'", ":YWJj:", "?1", "42", "*"})
    void bareKeyIsAcceptedInLenientModeOnly(String value) {
        assertThat(read(LENIENT, value)).contains(value);
        assertThat(read(LENIENT, " " + value + "\t")).contains(value);
        assertThat(refusal(STRICT, value)).isEqualTo(Problem.KEY_INVALID);
    }

    @Test
    void bareAndQuotedAreTheSameKey() {
        assertThat(read(LENIENT, "k-1")).isEqualTo(read(LENIENT, "\"k-1\""));
        assertThat(read(LENIENT, "a\\b")).isEqualTo(read(LENIENT, "\"a\\\\b\""));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "\"\"",
                "\"",
                "\"a",
                "\"a\"b",
                "\"a\"; p=1",
                "\"a\";p",
                "\"a\", \"b\"",
                "\"a\",",
                "\"a\" \"b\"",
                "\"a\\\"",
                "\"a\\n\"",
                "\"a\\",
                "\"a b\"",
                "\"a\tb\"",
                "\"a\u0000b\"",
                "\"a\u007fb\"",
                "\"käy\"",
                "\"a\r\nX: y\"",
                "a\"b",
                "a\"",
                "a,b",
                "a, b",
                "a;p=1",
                "a b",
                "kä",
                "a\u0000"
            })
    void whatIsNotOneKeyIsRefusedInBothModes(String value) {
        assertThat(refusal(LENIENT, value)).isEqualTo(Problem.KEY_INVALID);
        assertThat(refusal(STRICT, value)).isEqualTo(Problem.KEY_INVALID);
    }

    @Test
    void keyHas255CharactersAtMost() {
        String longest = "k".repeat(255);
        assertThat(read(STRICT, '"' + longest + '"')).contains(longest);
        assertThat(read(LENIENT, longest)).contains(longest);
        assertThat(refusal(LENIENT, longest + "k")).isEqualTo(Problem.KEY_INVALID);
        assertThat(refusal(STRICT, '"' + longest + "k\"")).isEqualTo(Problem.KEY_INVALID);
        assertThat(read(STRICT, '"' + "\\\\".repeat(255) + '"')).contains("\\".repeat(255));
    }

    @Test
    void keySentTwiceIsRefusedEvenIfItIsTheSame() {
        assertThat(refusal(LENIENT, "k", "k")).isEqualTo(Problem.KEY_INVALID);
        assertThat(refusal(STRICT, "\"k\"", "\"k\"")).isEqualTo(Problem.KEY_INVALID);
    }

    @Test
    void noHeaderIsNoKey() {
        assertThat(read(LENIENT)).isEmpty();
        assertThat(read(STRICT)).isEmpty();
    }

    @Test
    void nameOfTheHeaderCanBeAnother() {
        KeySource.Header other = new KeySource.Header("X-Request-Key", false);
        assertThat(KeyHeader.read(Headers.of("x-request-key", "k", "Idempotency-Key", "other"), other))
                .contains("k");
    }

    /** The grammar of RFC 8941, in another way than the parser. */
    @Test
    void generatedValuesAreReadAsTheGrammarSays() {
        Pattern string = Pattern.compile("[ \t]*\"((?:[ !#-\\[\\]-~]|\\\\[\\\\\"])*)\"[ \t]*");
        Pattern bare = Pattern.compile("[ \t]*([!#-+\\--:<-~]{1,255})[ \t]*");
        long seed = System.nanoTime();
        System.out.println("KeyHeaderTest seed " + seed);
        Random random = new Random(seed);
        String alphabet = "\"\"\"\\\\\\;, ab~!\t\u00e9\u0000=";
        for (int i = 0; i < 20_000; i++) {
            StringBuilder made = new StringBuilder();
            for (int length = random.nextInt(9); length > 0; length--) {
                made.append(alphabet.charAt(random.nextInt(alphabet.length())));
            }
            String value = random.nextBoolean() ? made.toString() : '"' + made.toString() + '"';
            var quoted = string.matcher(value);
            Optional<String> expected = quoted.matches()
                    ? Optional.of(quoted.group(1).replaceAll("\\\\(.)", "$1"))
                            .filter(key -> !key.isEmpty() && key.indexOf(' ') < 0)
                    : Optional.empty();
            assertThat(readOrRefuse(STRICT, value))
                    .as("%s, seed %d", value, seed)
                    .isEqualTo(expected);
            var unquoted = bare.matcher(value);
            Optional<String> lenient = unquoted.matches() ? Optional.of(unquoted.group(1)) : expected;
            assertThat(readOrRefuse(LENIENT, value))
                    .as("%s, seed %d", value, seed)
                    .isEqualTo(lenient);
        }
    }

    private static Optional<String> readOrRefuse(KeySource.Header source, String value) {
        try {
            return read(source, value);
        } catch (ProblemException refused) {
            assertThat(refused.problem()).isEqualTo(Problem.KEY_INVALID);
            return Optional.empty();
        }
    }
}
