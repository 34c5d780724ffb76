package dev.hapax.gateway;

import dev.hapax.gateway.config.Effective;
import dev.hapax.gateway.config.InvalidConfigurationException;
import dev.hapax.gateway.config.Reference;
import java.io.PrintWriter;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Prints the configuration that counts, or what is wrong with it. */
@Command(
        name = "config",
        mixinStandardHelpOptions = true,
        versionProvider = HapaxCommand.Version.class,
        header = "Check the configuration and print what counts, with where it comes from.",
        description = {
            "",
            "Secrets are not printed. What is wrong is told with its line and column, all of it at once.",
            ""
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:the configuration is valid", "2:it is not; standard error has the mistakes"},
        footer = {
            "",
            "Examples:",
            "  hapax config",
            "  hapax config --config /etc/hapax.yaml --set defaults.retention=2h",
            "  hapax config --reference"
        })
final class ConfigCommand implements Callable<Integer> {
    private final Map<String, String> environment;

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private ConfigurationOptions options = new ConfigurationOptions();

    @Option(names = "--reference", description = "Print all settings there are, as Markdown.")
    private boolean reference;

    ConfigCommand(Map<String, String> environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() {
        PrintWriter out = Streams.out(spec);
        if (reference) {
            out.print(Reference.markdown());
            out.flush();
            return 0;
        }
        try {
            Effective effective = options.sources(environment).read();
            out.print(effective.yaml());
            out.flush();
            return 0;
        } catch (InvalidConfigurationException e) {
            return Streams.refuse(spec, e);
        }
    }
}
