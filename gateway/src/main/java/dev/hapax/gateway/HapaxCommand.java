package dev.hapax.gateway;

import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The {@code hapax} program. */
@Command(
        name = "hapax",
        mixinStandardHelpOptions = true,
        versionProvider = HapaxCommand.Version.class,
        subcommands = {GatewayCommand.class, ConfigCommand.class, OperationsCommand.class, HelpCommand.class},
        header = "Run it once, answer every retry: idempotency for any HTTP service.",
        synopsisSubcommandLabel = "COMMAND",
        footer = {
            "",
            "Examples:",
            "  hapax gateway --upstream http://localhost:9000 --store embedded",
            "  hapax gateway --config hapax.yaml --listen 9090",
            "  hapax config --config hapax.yaml"
        })
public final class HapaxCommand implements Runnable {
    /** What a user did wrong: usage, or the configuration. */
    static final int USAGE = 2;

    /** What went wrong otherwise. */
    static final int FAILED = 1;

    @Spec
    private @Nullable CommandSpec spec;

    public static void main(String[] args) {
        System.exit(commandLine(System.getenv()).execute(args));
    }

    /** The command line, for an environment. */
    static CommandLine commandLine(Map<String, String> environment) {
        return commandLine(new HapaxCommand(), environment);
    }

    /** How all commands of the program look and fail. */
    public static CommandLine commandLine(Object command, Map<String, String> environment) {
        Ansi ansi = Screen.hasColours(environment) ? Ansi.ON : Ansi.OFF;
        return new CommandLine(command, new Commands(environment))
                .setUsageHelpWidth(100)
                .setColorScheme(CommandLine.Help.defaultColorScheme(ansi))
                .setExecutionExceptionHandler((failure, line, parsed) -> {
                    if (!(failure instanceof StartException)) {
                        throw failure;
                    }
                    line.getErr().println("hapax: " + failure.getMessage());
                    return FAILED;
                });
    }

    /** Without a command there is nothing to do. */
    @Override
    public void run() {
        if (spec != null) {
            throw new CommandLine.ParameterException(spec.commandLine(), "hapax: a command is needed");
        }
    }

    /** Gives the environment to the commands that ask for it. */
    private record Commands(Map<String, String> environment) implements CommandLine.IFactory {
        @Override
        public <K> K create(Class<K> type) throws Exception {
            if (type == GatewayCommand.class) {
                return type.cast(new GatewayCommand(environment));
            }
            if (type == ConfigCommand.class) {
                return type.cast(new ConfigCommand(environment));
            }
            if (type == OperationsCommand.class) {
                return type.cast(new OperationsCommand(environment));
            }
            return CommandLine.defaultFactory().create(type);
        }
    }

    /** What Maven wrote into the jar of the engine. */
    public static final class Version implements IVersionProvider {
        private static final String PROPERTIES = "/META-INF/maven/dev.hapax/hapax-core/pom.properties";

        @Override
        public String[] getVersion() throws IOException {
            return new String[] {"hapax " + number() + " on Java " + Runtime.version()};
        }

        static String number() throws IOException {
            try (InputStream in = HapaxCommand.class.getResourceAsStream(PROPERTIES)) {
                Properties properties = new Properties();
                if (in != null) {
                    properties.load(in);
                }
                return properties.getProperty("version", "(built from source)");
            }
        }
    }
}
