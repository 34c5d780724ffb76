package dev.hapax.gateway.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Whatever is in the file: a valid configuration that prints and reads back, or mistakes, and nothing else. */
class ConfigurationFuzzTest {
    private static final int ROUNDS = 5_000;

    private static final List<String> PIECES = List.of(
            "{",
            "}",
            "[",
            "]",
            ":",
            ": ",
            "- ",
            "\n",
            "\n  ",
            "\n- ",
            "#",
            "&a ",
            "*a",
            "!!str ",
            "'",
            "\"",
            "|",
            ">",
            "?",
            "%",
            "@",
            "`",
            "\t",
            "\u0000",
            "\u0085",
            "\uFEFF",
            "\uD800",
            "é",
            "💥",
            "${Y}",
            "${",
            "$${",
            "null",
            "~",
            "true",
            "0",
            "-1",
            "1e9",
            "0x10",
            "99999999999999999999",
            "24h",
            "1MiB",
            "<<: *a\n",
            "---\n",
            "...\n",
            "match: POST /**\n",
            "key: natural {x}",
            "embedded",
            "body-hash",
            "********",
            "listen",
            "routes",
            "/",
            "//",
            "{order_id}",
            "\\",
            "\r",
            " ",
            "a".repeat(300));

    private static final String SEED = """
            listen: 8080
            tls:
            upstream: {url: "http://localhost:9000", pool: {size: 4}}
            store: {url: "jdbc:postgresql://db/x?password=y", password: "${X}"}
            tenant: {jwt: {claim: sub, trusted: true}}
            limits: {body: 2MB}
            defaults: &d
              retention: 1h30m
            routes:
              - match: POST /v1/charges
                key: header
                when-in-flight: wait 2s
              - match: POST /v1/orders/{order_id}
                key: {natural: {path: [order_id], body: [/a]}}
                stored-headers: [ETag]
                fingerprint: {members: [/a], secret: abc}
            """;

    @Test
    void noTextBreaksTheReader() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        int valid = 0;
        for (int round = 0; round < ROUNDS; round++) {
            String yaml = mutated(random, SEED.replace("tls:\n", random.nextInt(10) == 0 ? "tls:\n" : ""));
            try {
                valid += isValid(yaml) ? 1 : 0;
            } catch (RuntimeException | StackOverflowError e) {
                fail("seed %d, round %d:%n%s".formatted(seed, round, yaml), e);
            }
        }
        assertThat(valid).as("valid ones of seed " + seed).isBetween(1, ROUNDS - 1);
    }

    @Test
    void noFlagAndNoVariableBreaksTheReader() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        List<SettingPath> paths = SettingPath.all();
        int valid = 0;
        for (int round = 0; round < ROUNDS; round++) {
            ConfigurationSources sources = new ConfigurationSources().text("hapax.yaml", SEED.replace("tls:\n", ""));
            SettingPath path = paths.get(random.nextInt(paths.size()));
            String name = path.text().replace("*", Integer.toString(random.nextInt(3)));
            String variable = path.variable().replace("*", Integer.toString(random.nextInt(3)));
            String value = PIECES.get(random.nextInt(PIECES.size()));
            sources.environment(Map.of("X", "geheim", random.nextBoolean() ? "OTHER" : variable, value));
            sources.flag("--set", random.nextInt(10) == 0 ? mutated(random, name) : name, mutated(random, value + " "));
            try {
                valid += isValid(sources) ? 1 : 0;
            } catch (RuntimeException | StackOverflowError e) {
                fail("seed %d, round %d: %s=%s".formatted(seed, round, name, value), e);
            }
        }
        assertThat(valid).as("valid ones of seed " + seed).isBetween(1, ROUNDS - 1);
    }

    private static boolean isValid(ConfigurationSources sources) {
        try {
            assertThat(sources.read().yaml()).doesNotContain("geheim");
            return true;
        } catch (InvalidConfigurationException e) {
            assertThat(e.mistakes()).isNotEmpty();
            return false;
        }
    }

    private static boolean isValid(String yaml) {
        try {
            Effective effective = Configs.read(yaml, Map.of("X", "geheim", "Y", "y"));
            String printed = effective.yaml();
            assertThat(printed).doesNotContain("geheim");
            if (!printed.contains(Scalar.MASK)) {
                Configs.read(printed, Map.of("X", "geheim", "Y", "y"));
            }
            return true;
        } catch (InvalidConfigurationException e) {
            assertThat(e.mistakes()).isNotEmpty();
            return false;
        }
    }

    private static String mutated(Random random, String text) {
        StringBuilder yaml = new StringBuilder(text);
        int changes = random.nextInt(4);
        for (int i = 0; i < changes; i++) {
            int from = random.nextInt(yaml.length() + 1);
            int to = Math.min(yaml.length(), from + random.nextInt(random.nextInt(10) == 0 ? 100 : 4));
            yaml.replace(from, to, random.nextInt(4) == 0 ? "" : PIECES.get(random.nextInt(PIECES.size())));
        }
        return yaml.toString();
    }
}
