package dev.hapax.bench.kafka;

import dev.hapax.bench.process.ChildJvm;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;

/** A Kafka of one node in a process of its own, with its files in a directory that is deleted in the end. */
public final class KafkaBroker implements AutoCloseable {
    private static final List<String> HEAP = List.of("-Xms384m", "-Xmx384m");

    private final Path directory;
    private final ChildJvm process;
    private final String bootstrapServers;

    private KafkaBroker(Path directory, ChildJvm process, String bootstrapServers) {
        this.directory = directory;
        this.process = process;
        this.bootstrapServers = bootstrapServers;
    }

    public static KafkaBroker start() throws IOException {
        Path directory = Files.createTempDirectory("hapax-bench-kafka");
        String address = "127.0.0.1:" + freePort();
        Path file = directory.resolve("server.properties");
        try (OutputStream out = Files.newOutputStream(file)) {
            settings(directory, address, "127.0.0.1:" + freePort()).store(out, null);
        }
        ChildJvm process = ChildJvm.start(BrokerProcess.class, HEAP, List.of(file.toString()));
        KafkaBroker broker = new KafkaBroker(directory, process, address);
        try {
            String line = process.line();
            while (!line.equals(BrokerProcess.UP)) {
                line = process.line();
            }
            return broker;
        } catch (IOException e) {
            broker.close();
            throw e;
        }
    }

    private static Properties settings(Path directory, String address, String controller) {
        Properties settings = new Properties();
        settings.putAll(Map.of(
                "process.roles", "broker,controller",
                "node.id", "1",
                "controller.quorum.voters", "1@" + controller,
                "listeners", "PLAINTEXT://%s,CONTROLLER://%s".formatted(address, controller),
                "controller.listener.names", "CONTROLLER",
                "inter.broker.listener.name", "PLAINTEXT",
                "log.dirs", directory.resolve("log").toString(),
                "offsets.topic.replication.factor", "1",
                "offsets.topic.num.partitions", "2",
                "group.initial.rebalance.delay.ms", "0"));
        return settings;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    String bootstrapServers() {
        return bootstrapServers;
    }

    void createTopic(String topic, int partitions) throws ExecutionException, InterruptedException {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrapServers))) {
            admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 1)))
                    .all()
                    .get();
        }
    }

    @Override
    public void close() throws IOException {
        process.close();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
