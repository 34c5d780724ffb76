package dev.hapax.messaging.rabbit;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.apache.qpid.server.SystemLauncher;

/** Qpid's broker in this JVM: AMQP 0-9-1 as RabbitMQ speaks it, everything in memory. */
final class QpidBroker implements Broker, AutoCloseable {
    private static final String CONFIGURATION = """
            {
              "name": "hapax",
              "modelVersion": "9.1",
              "authenticationproviders": [{
                "name": "plain", "type": "Plain", "secureOnlyMechanisms": [],
                "users": [{"name": "guest", "type": "managed", "password": "guest"}]
              }],
              "ports": [{
                "name": "AMQP", "port": "%d", "bindingAddress": "127.0.0.1",
                "authenticationProvider": "plain", "protocols": ["AMQP_0_9_1"],
                "virtualhostaliases": [{"name": "defaultAlias", "type": "defaultAlias"}]
              }],
              "virtualhostnodes": [{
                "name": "default", "type": "Memory", "defaultVirtualHostNode": "true",
                "virtualHostInitialConfiguration": "{\\"type\\": \\"Memory\\"}"
              }]
            }
            """;

    private final int port;
    private final Path directory;
    private SystemLauncher launcher;

    private QpidBroker(int port, Path directory) throws Exception {
        this.port = port;
        this.directory = directory;
        this.launcher = launch();
    }

    static QpidBroker start() {
        return Broker.unchecked(() -> new QpidBroker(freePort(), Files.createTempDirectory("hapax-qpid")));
    }

    /** The one that all tests of a JVM share. */
    static QpidBroker shared() {
        return Shared.BROKER;
    }

    private static final class Shared {
        static final QpidBroker BROKER = start();
    }

    static int freePort() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}))) {
            return socket.getLocalPort();
        }
    }

    private SystemLauncher launch() throws Exception {
        Path configuration = Files.writeString(directory.resolve("broker.json"), CONFIGURATION.formatted(port));
        Map<String, Object> attributes = new HashMap<>();
        attributes.put("type", "Memory");
        attributes.put("initialConfigurationLocation", configuration.toUri().toString());
        attributes.put("startupLoggedToSystemOut", "false");
        attributes.put("context", Map.of("qpid.work_dir", directory.toString()));
        SystemLauncher started = new SystemLauncher();
        started.startup(attributes);
        return started;
    }

    /** Everything it had is gone afterwards. */
    void restart() {
        Broker.unchecked(() -> {
            launcher.shutdown();
            launcher = launch();
            return launcher;
        });
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public void close() {
        launcher.shutdown();
    }
}
