package dev.hapax.gateway.config;

import java.util.List;
import java.util.Map;

/** Configurations for tests. */
final class Configs {
    static final String MINIMAL = """
            upstream: http://localhost:9000
            store: embedded
            """;

    private Configs() {}

    static Effective read(String yaml) {
        return read(yaml, Map.of());
    }

    static Effective read(String yaml, Map<String, String> environment) {
        return new ConfigurationSources()
                .text("hapax.yaml", yaml)
                .environment(environment)
                .read();
    }

    static List<String> mistakes(String yaml) {
        return mistakes(new ConfigurationSources().text("hapax.yaml", yaml));
    }

    static List<String> mistakes(ConfigurationSources sources) {
        try {
            Effective valid = sources.read();
            throw new AssertionError("no mistake was found in\n" + valid.yaml());
        } catch (InvalidConfigurationException e) {
            return e.mistakes().stream().map(Mistake::toString).toList();
        }
    }
}
