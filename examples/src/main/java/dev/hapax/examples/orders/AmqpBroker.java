package dev.hapax.examples.orders;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import dev.hapax.gateway.StartException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.apache.qpid.server.SystemLauncher;

/** A broker in this JVM that speaks RabbitMQ's protocol: Qpid's, on the loopback address, everything in memory. */
final class AmqpBroker implements AutoCloseable {
    private static final String CONFIGURATION = """
            {
              "name": "orders",
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
    private final SystemLauncher launcher = new SystemLauncher();

    private AmqpBroker(int port, Path directory) {
        this.port = port;
        this.directory = directory;
    }

    /**
     * Starts it with empty queues.
     *
     * @throws StartException that says why it did not start
     */
    static AmqpBroker start(String... queues) {
        try {
            AmqpBroker broker = new AmqpBroker(freePort(), Files.createTempDirectory("hapax-amqp"));
            try {
                broker.launch();
                broker.declare(List.of(queues));
                return broker;
            } catch (Exception e) {
                broker.close();
                throw e;
            }
        } catch (Exception e) {
            throw new StartException("the AMQP broker did not start: " + e.getMessage(), e);
        }
    }

    private void launch() throws Exception {
        Path configuration = Files.writeString(directory.resolve("broker.json"), CONFIGURATION.formatted(port));
        Map<String, Object> attributes = new HashMap<>();
        attributes.put("type", "Memory");
        attributes.put("initialConfigurationLocation", configuration.toUri().toString());
        attributes.put("startupLoggedToSystemOut", "false");
        attributes.put("context", Map.of("qpid.work_dir", directory.toString()));
        launcher.startup(attributes);
    }

    private void declare(List<String> queues) throws IOException, TimeoutException {
        try (Connection connection = connections().newConnection();
                Channel channel = Objects.requireNonNull(connection.createChannel())) {
            for (String queue : queues) {
                channel.queueDeclare(queue, true, false, false, Map.of());
            }
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}))) {
            return socket.getLocalPort();
        }
    }

    /** A way to connect to it; every caller has its own and may change it. */
    ConnectionFactory connections() {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setHost("127.0.0.1");
        factory.setPort(port);
        factory.setAutomaticRecoveryEnabled(false);
        return factory;
    }

    /** How many messages a queue has, with those that were delivered and not acknowledged. */
    int depth(String queue) throws IOException, TimeoutException {
        try (Connection connection = connections().newConnection();
                Channel channel = Objects.requireNonNull(connection.createChannel())) {
            return channel.queueDeclarePassive(queue).getMessageCount();
        }
    }

    @Override
    public void close() {
        launcher.shutdown();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            // It is a temporary directory; who clears those will find it.
        }
    }
}
