package dev.hapax.bench.gateway;

import dev.hapax.bench.process.ChildJvm;
import dev.hapax.gateway.Progress;
import dev.hapax.gateway.RunningGateway;
import dev.hapax.gateway.config.Configuration;
import dev.hapax.gateway.config.ConfigurationSources;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** The gateway as {@code hapax gateway} runs it, with its configuration as the only argument. Prints its port. */
final class GatewayProcess {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private GatewayProcess() {}

    public static void main(String[] args) throws InterruptedException {
        ChildJvm.endWithParent();
        Configuration configuration =
                new ConfigurationSources().text("bench", args[0]).read().configuration();
        Progress progress = new Progress(new PrintWriter(System.err, true, StandardCharsets.UTF_8));
        try (RunningGateway gateway = RunningGateway.start(configuration, PATIENCE, progress)) {
            System.out.println(gateway.port());
            Thread.currentThread().join();
        }
    }
}
