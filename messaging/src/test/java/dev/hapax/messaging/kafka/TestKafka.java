package dev.hapax.messaging.kafka;

import dev.hapax.testkit.ChildJvm;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.GroupProtocol;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.awaitility.Awaitility;

/** A Kafka of one node in a process of its own, that can be killed and started again. */
final class TestKafka {
    private final Path directory;
    private final int port;
    private final Admin admin;
    private ChildJvm process;

    private TestKafka(Path directory, int port) throws IOException {
        this.directory = directory;
        this.port = port;
        this.process = launch(directory);
        Runtime.getRuntime().addShutdownHook(new Thread(this::remove));
        this.admin = Admin.create(Map.of("bootstrap.servers", bootstrapServers()));
    }

    private void remove() {
        try (Stream<Path> files = Files.walk(directory)) {
            process.kill();
            files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        } catch (IOException | InterruptedException e) {
            System.err.println("Kafka's data could not be removed: " + e);
        }
    }

    /** One for all test classes of a JVM; it ends with the JVM. */
    static TestKafka shared() {
        return Shared.KAFKA;
    }

    private static final class Shared {
        static final TestKafka KAFKA = start();
    }

    private static TestKafka start() {
        try {
            Path directory = Files.createTempDirectory("hapax-kafka");
            int port = freePort();
            int controller = freePort();
            Properties settings = new Properties();
            settings.setProperty("process.roles", "broker,controller");
            settings.setProperty("node.id", "1");
            settings.setProperty("controller.quorum.voters", "1@127.0.0.1:" + controller);
            settings.setProperty(
                    "listeners", "PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controller);
            settings.setProperty("controller.listener.names", "CONTROLLER");
            settings.setProperty("inter.broker.listener.name", "PLAINTEXT");
            settings.setProperty("log.dirs", directory.resolve("log").toString());
            settings.setProperty("offsets.topic.replication.factor", "1");
            settings.setProperty("offsets.topic.num.partitions", "2");
            settings.setProperty("transaction.state.log.replication.factor", "1");
            settings.setProperty("transaction.state.log.min.isr", "1");
            settings.setProperty("transaction.state.log.num.partitions", "1");
            settings.setProperty("share.coordinator.state.topic.replication.factor", "1");
            settings.setProperty("share.coordinator.state.topic.min.isr", "1");
            settings.setProperty("broker.session.timeout.ms", "3000"); // so long a killed broker cannot come back
            settings.setProperty("broker.heartbeat.interval.ms", "500");
            settings.setProperty("group.initial.rebalance.delay.ms", "0");
            settings.setProperty("group.min.session.timeout.ms", "1000");
            settings.setProperty("group.consumer.min.session.timeout.ms", "1000");
            settings.setProperty("group.consumer.session.timeout.ms", "2000");
            settings.setProperty("group.consumer.min.heartbeat.interval.ms", "100");
            settings.setProperty("group.consumer.heartbeat.interval.ms", "300");
            try (var out = Files.newOutputStream(directory.resolve("server.properties"))) {
                settings.store(out, null);
            }
            return new TestKafka(directory, port);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ChildJvm launch(Path directory) throws IOException {
        ChildJvm process = ChildJvm.start(
                384,
                Broker.class,
                List.of(directory.resolve("server.properties").toString()));
        process.awaitLine("broker started");
        return process;
    }

    /** SIGKILL. */
    void kill() throws InterruptedException {
        process.kill();
    }

    void restart() throws IOException {
        process = launch(directory);
    }

    String bootstrapServers() {
        return "127.0.0.1:" + port;
    }

    String newTopic(int partitions) {
        String topic = "t" + UUID.randomUUID().toString().replace("-", "");
        newTopic(topic, partitions);
        return topic;
    }

    /**
     * Returns when every partition answers: a producer whose first batch comes too early for one of them may not send
     * to it for minutes.
     */
    void newTopic(String topic, int partitions) {
        try {
            admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 1)))
                    .all()
                    .get();
            Map<TopicPartition, OffsetSpec> all = new HashMap<>();
            for (int i = 0; i < partitions; i++) {
                all.put(new TopicPartition(topic, i), OffsetSpec.latest());
            }
            Awaitility.await()
                    .atMost(Duration.ofSeconds(60))
                    .pollDelay(Duration.ZERO)
                    .ignoreExceptions()
                    .until(() -> admin.listOffsets(all).all().get().size() == partitions);
        } catch (ExecutionException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    KafkaProducer<byte[], byte[]> producer() {
        return new KafkaProducer<>(
                Map.of("bootstrap.servers", bootstrapServers(), "max.block.ms", 10_000, "linger.ms", 5),
                new ByteArraySerializer(),
                new ByteArraySerializer());
    }

    /** Settings for a consumer of the classic protocol that notices soon that another one is gone. */
    Map<String, Object> consumer(String group) {
        return consumer(group, GroupProtocol.CLASSIC);
    }

    Map<String, Object> consumer(String group, GroupProtocol protocol) {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", bootstrapServers());
        settings.put("group.id", group);
        settings.put("fetch.max.wait.ms", 100);
        settings.put("group.protocol", protocol.name);
        if (protocol == GroupProtocol.CLASSIC) {
            settings.put("session.timeout.ms", 2_000);
            settings.put("heartbeat.interval.ms", 300);
        }
        return settings;
    }

    /** What a group has committed, over all partitions of a topic. */
    long committed(String group, String topic) {
        try {
            return admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().entrySet().stream()
                    .filter(entry -> entry.getKey().topic().equals(topic) && entry.getValue() != null)
                    .mapToLong(entry -> entry.getValue().offset())
                    .sum();
        } catch (ExecutionException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** How many messages are on partition 0 of a topic. */
    long size(String topic) {
        TopicPartition partition = partition(topic, 0);
        try {
            return admin.listOffsets(Map.of(partition, OffsetSpec.latest()))
                    .partitionResult(partition)
                    .get()
                    .offset();
        } catch (ExecutionException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static ProducerRecord<byte[], byte[]> record(String topic, String key, String value) {
        return new ProducerRecord<>(topic, bytes(key), bytes(value));
    }

    /** The text of a record's key. */
    static String key(ConsumerRecord<byte[], byte[]> record) {
        return new String(record.key(), StandardCharsets.UTF_8);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static TopicPartition partition(String topic, int number) {
        return new TopicPartition(topic, number);
    }

    static Duration patience() {
        return Duration.ofMinutes(1);
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
