package dev.hapax.messaging.rabbit;

import com.rabbitmq.client.Connection;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;

/**
 * The real RabbitMQ, where it is installed, as a child process with a directory of its own. It ends with this JVM,
 * however that ends: the shell above it reads a pipe that only this JVM holds open.
 */
final class RabbitMqServer implements Broker, AutoCloseable {
    private static final Path PROGRAM = Path.of("/usr/lib/rabbitmq/bin/rabbitmq-server");
    private static final Path CONTROL = Path.of("/usr/lib/rabbitmq/bin/rabbitmqctl");
    private static final String COOKIE = "hapax";
    private static final String SUPERVISOR = """
            exec 3<&0
            epmd -port "$ERL_EPMD_PORT" -address 127.0.0.1 </dev/null >>"$HOME/out.log" 2>&1 3<&- &
            epmd=$!
            "$1" </dev/null >>"$HOME/out.log" 2>&1 3<&- &
            server=$!
            ( while read -r _; do :; done <&3; kill -9 "$server" ) 2>/dev/null &
            lifeline=$!
            exec 3<&- </dev/null
            wait "$server"
            kill -9 "$epmd" "$lifeline"
            """;

    private final Path directory;
    private final int port;
    private final int epmdPort;
    private final int distributionPort;
    private Process supervisor;

    private RabbitMqServer() throws Exception {
        directory = Files.createTempDirectory("hapax-rabbitmq");
        Files.writeString(directory.resolve("env"), "");
        port = QpidBroker.freePort();
        epmdPort = QpidBroker.freePort();
        distributionPort = QpidBroker.freePort();
        supervisor = launch();
    }

    /** The one that all tests of a JVM share; the test is skipped where RabbitMQ is not installed. */
    static RabbitMqServer sharedOrSkip() {
        skipUnlessInstalled();
        return Shared.SERVER;
    }

    static RabbitMqServer startOrSkip() {
        skipUnlessInstalled();
        return Broker.unchecked(RabbitMqServer::new);
    }

    private static void skipUnlessInstalled() {
        Assumptions.assumeTrue(
                Files.isExecutable(PROGRAM),
                "SKIPPED: RabbitMQ is not installed here (apt-get install rabbitmq-server)");
    }

    private static final class Shared {
        static final RabbitMqServer SERVER = startOrSkip();
    }

    private Process launch() throws IOException {
        ProcessBuilder builder = new ProcessBuilder("/bin/sh", "-c", SUPERVISOR, "hapax-rabbitmq", PROGRAM.toString())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().putAll(environment());
        Process started = builder.start();
        Awaitility.await("RabbitMQ accepts connections")
                .atMost(Duration.ofSeconds(90))
                .until(this::accepts);
        return started;
    }

    private Map<String, String> environment() {
        return Map.ofEntries(
                Map.entry("HOME", directory.toString()),
                Map.entry("RUNNING_UNDER_SYSTEMD", "1"), // runs the server itself, without a shell above it
                Map.entry("RABBITMQ_NODENAME", "hapax" + port + "@localhost"),
                Map.entry("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1"),
                Map.entry("RABBITMQ_NODE_PORT", "" + port),
                Map.entry("RABBITMQ_DIST_PORT", "" + distributionPort),
                Map.entry("RABBITMQ_MNESIA_BASE", directory.resolve("mnesia").toString()),
                Map.entry("RABBITMQ_LOG_BASE", directory.toString()),
                Map.entry("RABBITMQ_LOGS", directory.resolve("rabbit.log").toString()),
                Map.entry(
                        "RABBITMQ_ENABLED_PLUGINS_FILE",
                        directory.resolve("plugins").toString()),
                Map.entry("RABBITMQ_CONFIG_FILE", directory.resolve("rabbitmq").toString()),
                Map.entry(
                        "RABBITMQ_ADVANCED_CONFIG_FILE",
                        directory.resolve("advanced").toString()),
                Map.entry("RABBITMQ_CONF_ENV_FILE", directory.resolve("env").toString()),
                Map.entry("RABBITMQ_PID_FILE", directory.resolve("pid").toString()),
                Map.entry("ERL_EPMD_PORT", "" + epmdPort),
                Map.entry("ERL_EPMD_ADDRESS", "127.0.0.1"),
                Map.entry(
                        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS",
                        "-setcookie " + COOKIE + " -kernel inet_dist_use_interface {127,0,0,1}"));
    }

    private boolean accepts() {
        try (Connection connection = factory().newConnection()) {
            return connection.isOpen();
        } catch (Exception notYet) {
            return false;
        }
    }

    @Override
    public int port() {
        return port;
    }

    /**
     * Has what was declared written to disk. Unlike messages, which are confirmed, a declaration is answered before it
     * is written: a broker killed within seconds forgets the queue, and with it what was confirmed.
     */
    void writeDeclarations() throws Exception {
        ProcessBuilder builder = new ProcessBuilder(
                        CONTROL.toString(),
                        "--erlang-cookie",
                        COOKIE,
                        "eval",
                        "dumped = mnesia:dump_log(), ok = mnesia:sync_log().")
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("control.log").toFile());
        builder.environment().putAll(environment());
        int ended = builder.start().waitFor();
        if (ended != 0) {
            throw new IllegalStateException(Files.readString(directory.resolve("control.log")));
        }
    }

    /** SIGKILL, as a crash would; messages that were confirmed are on disk. */
    void kill() throws InterruptedException {
        try {
            supervisor.getOutputStream().close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (!supervisor.waitFor(60, TimeUnit.SECONDS)) {
            throw new IllegalStateException("RabbitMQ does not go away");
        }
    }

    /** Starts it again on the same data and the same port. */
    void restart() {
        supervisor = Broker.unchecked(this::launch);
    }

    @Override
    public void close() throws Exception {
        kill();
    }
}
