package dev.hapax.examples;

import dev.hapax.gateway.HapaxCommand;
import dev.hapax.gateway.Progress;
import dev.hapax.gateway.RunningGateway;
import dev.hapax.gateway.Screen;
import dev.hapax.gateway.Signals;
import dev.hapax.gateway.StartException;
import dev.hapax.gateway.config.Configuration;
import dev.hapax.gateway.config.ConfigurationSources;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A gateway on a PostgreSQL of its own, in front of {@link PaymentsApi}, with what to try printed beside it. */
@Command(
        name = "hapax demo",
        mixinStandardHelpOptions = true,
        versionProvider = HapaxCommand.Version.class,
        header = "Run the gateway in front of a sample payments API, on a PostgreSQL of its own.",
        description = {
            "",
            "Prints curl lines to try and what they answer. Ctrl-C stops everything; started again, earlier keys "
                    + "still replay.",
            ""
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:it was stopped",
            "1:it could not start, for example because the port is in use",
            "2:wrong flags"
        },
        footer = {"", "Examples:", "  hapax demo", "  hapax demo --port 9090"})
public final class Demo implements Callable<Integer> {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int HIGHEST_PORT = 65_535;

    private final Map<String, String> environment;

    @Spec
    private @Nullable CommandSpec spec;

    @Option(
            names = "--port",
            paramLabel = "PORT",
            defaultValue = "8080",
            description =
                    "Where the gateway listens on 127.0.0.1; 0 for any that is free. ${DEFAULT-VALUE} unless given.")
    private int port;

    @Option(
            names = "--data",
            paramLabel = "DIRECTORY",
            defaultValue = ".hapax",
            description = "Where the data is kept. .hapax beside the program unless given.")
    private Path data = Path.of(".hapax");

    Demo(Map<String, String> environment) {
        this.environment = environment;
    }

    public static void main(String[] args) {
        System.exit(run(args));
    }

    private static int run(String... args) {
        return HapaxCommand.commandLine(new Demo(System.getenv()), System.getenv())
                .setOverwrittenOptionsAllowed(true)
                .execute(args);
    }

    @Override
    public Integer call() throws InterruptedException {
        CommandSpec command = Objects.requireNonNull(spec);
        if (port < 0 || port > HIGHEST_PORT) {
            throw new ParameterException(command.commandLine(), "--port is from 0 to " + HIGHEST_PORT);
        }
        DemoPorts ports = DemoPorts.choose(port);
        Screen screen = new Screen(command.commandLine().getOut(), environment);
        Progress progress = new Progress(command.commandLine().getErr());
        try (DemoData files = DemoData.open(data, port);
                PaymentsApi api = startApi(files);
                RunningGateway gateway = RunningGateway.start(configuration(ports, files, api), PATIENCE, progress)) {
            Signals signals = Signals.listen();
            new DemoScreen(screen, gateway.port()).show(gateway, api, files);
            signals.await();
            screen.line("");
            screen.line("Stopping …");
        }
        screen.line("Stopped. Everything is kept: ./hapax demo goes on from here.");
        return 0;
    }

    private static PaymentsApi startApi(DemoData files) {
        try {
            return PaymentsApi.start(0, files.executed());
        } catch (IOException e) {
            throw new StartException("the payments API did not start: " + e.getMessage(), e);
        }
    }

    static Configuration configuration(DemoPorts ports, DemoData files, PaymentsApi api) {
        return new ConfigurationSources()
                .text("demo.yaml", yaml())
                .flag("--port", "listen", "127.0.0.1:" + ports.gateway())
                .flag("--port", "admin", "127.0.0.1:" + ports.admin())
                .flag("--port", "upstream", "http://127.0.0.1:" + api.port())
                .flag("--data", "store.data", files.postgres().toString())
                .read()
                .configuration();
    }

    private static String yaml() {
        try (InputStream in = Demo.class.getResourceAsStream("/demo.yaml")) {
            return new String(Objects.requireNonNull(in, "demo.yaml").readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
