package dev.hapax.gateway;

import dev.hapax.gateway.config.ConfigurationSources;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The flags that say where the configuration is, or stand in for it. */
final class ConfigurationOptions {
    private static final Path USUAL_FILE = Path.of("hapax.yaml");

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "The configuration. HAPAX_CONFIG, or hapax.yaml in the current directory, unless given.")
    private @Nullable Path config;

    @Option(names = "--listen", paramLabel = "ADDRESS", description = "Where clients come in: 8080 or 127.0.0.1:8080.")
    private @Nullable String listen;

    @Option(names = "--upstream", paramLabel = "URL", description = "Where requests go: http://localhost:9000.")
    private @Nullable String upstream;

    @Option(
            names = "--store",
            paramLabel = "URL",
            description = "Where operations are kept: jdbc:postgresql://host/database, or embedded.")
    private @Nullable String store;

    @Option(names = "--admin", paramLabel = "ADDRESS", description = "Where health and metrics are served, or off.")
    private @Nullable String admin;

    @Option(
            names = "--tenant",
            paramLabel = "SOURCE",
            description = "Whose keys are whose: none, authorization, certificate or \"header NAME\".")
    private @Nullable String tenant;

    @Option(
            names = "--set",
            paramLabel = "SETTING=VALUE",
            description = "Any other setting, such as routes.0.retention=2h. Flags come before the environment, "
                    + "which comes before the file; in the environment the same is HAPAX_ROUTES_0_RETENTION.")
    private Map<String, String> settings = new LinkedHashMap<>();

    ConfigurationSources sources(Map<String, String> environment) {
        ConfigurationSources sources = new ConfigurationSources().environment(environment);
        @Nullable Path file = file(environment);
        if (file != null) {
            sources.file(file);
        }
        settings.forEach((name, value) -> sources.flag("--set " + name, name, value));
        add(sources, "listen", listen);
        add(sources, "upstream", upstream);
        add(sources, "store", store);
        add(sources, "admin", admin);
        add(sources, "tenant", tenant);
        return sources;
    }

    private @Nullable Path file(Map<String, String> environment) {
        @Nullable String named = environment.get("HAPAX_CONFIG");
        if (config != null || named != null) {
            return config != null ? config : Path.of(named);
        }
        return Files.exists(USUAL_FILE) ? USUAL_FILE : null;
    }

    private static void add(ConfigurationSources sources, String setting, @Nullable String value) {
        if (value != null) {
            sources.flag("--" + setting, setting, value);
        }
    }
}
