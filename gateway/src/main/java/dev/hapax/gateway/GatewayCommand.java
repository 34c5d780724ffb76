package dev.hapax.gateway;

import dev.hapax.gateway.config.Configuration;
import dev.hapax.gateway.config.InvalidConfigurationException;
import dev.hapax.gateway.config.Words;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Runs the gateway until it is told to stop. */
@Command(
        name = "gateway",
        mixinStandardHelpOptions = true,
        versionProvider = HapaxCommand.Version.class,
        header = "Run the gateway in front of a service.",
        description = {
            "",
            "Ctrl-C or SIGTERM stops it: what is in flight is finished within the grace time. A second Ctrl-C stops it "
                    + "at once.",
            ""
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:it was stopped",
            "1:it could not start: a port in use, a store that cannot be reached",
            "2:the flags or the configuration are wrong"
        },
        footer = {
            "",
            "Examples:",
            "  hapax gateway --config hapax.yaml",
            "  hapax gateway --upstream http://localhost:9000 --store embedded --set 'routes.0.match=POST /v1/charges'",
            "  HAPAX_STORE_PASSWORD=… hapax gateway --config hapax.yaml --wait 1m"
        })
final class GatewayCommand implements Callable<Integer> {
    private final Map<String, String> environment;

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private ConfigurationOptions options = new ConfigurationOptions();

    @Option(
            names = "--wait",
            paramLabel = "DURATION",
            defaultValue = "5s",
            converter = DurationConverter.class,
            description = "How long to wait for a store that does not answer. ${DEFAULT-VALUE} unless given.")
    private Duration patience = Duration.ZERO;

    GatewayCommand(Map<String, String> environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws Exception {
        Configuration configuration;
        try {
            configuration = options.sources(environment).read().configuration();
        } catch (InvalidConfigurationException e) {
            return Streams.refuse(spec, e);
        }
        Screen screen = new Screen(Streams.out(spec), environment);
        Signals signals = Signals.listen();
        try (RunningGateway running = RunningGateway.start(configuration, patience, new Progress(Streams.err(spec)))) {
            screen.title("Hapax " + HapaxCommand.Version.number());
            screen.facts(StartScreen.of(configuration, running));
            screen.line("");
            signals.await();
            screen.line("Stopping. What is in flight has %s; Ctrl-C again stops at once."
                    .formatted(Words.of(configuration.gateway().grace())));
        }
        return 0;
    }

    /** Durations as in the configuration. */
    static final class DurationConverter implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String text) {
            try {
                return Words.duration(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException("\"" + text + "\": " + e.getMessage());
            }
        }
    }
}
