package dev.hapax.bench.kafka;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * What is often written by hand: the key of each message is inserted, in a commit of its own, and the message is
 * handled if the key was new. Offsets are committed after each poll. A message whose handler fails is lost.
 */
final class InsertingLoop implements ConsumerLoad.Consumption {
    private static final Duration POLL = Duration.ofMillis(100);
    private static final String TABLE = "CREATE TABLE IF NOT EXISTS bench_seen (id text PRIMARY KEY)";
    private static final String INSERT = "INSERT INTO bench_seen (id) VALUES (?) ON CONFLICT DO NOTHING";

    private final DataSource dataSource;
    private final Runnable completed;
    private final Thread thread;
    private volatile boolean closed;
    private volatile @Nullable Exception failure;

    InsertingLoop(Map<String, Object> settings, String topic, DataSource dataSource, Runnable completed)
            throws SQLException {
        this.dataSource = dataSource;
        this.completed = completed;
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(TABLE);
        }
        thread = new Thread(() -> consume(settings, topic), "inserting-consumer");
        thread.setDaemon(true);
        thread.start();
    }

    private void consume(Map<String, Object> settings, String topic) {
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(topic));
            while (!closed) {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
                for (ConsumerRecord<byte[], byte[]> record : records) {
                    if (isNew(record)) {
                        completed.run();
                    }
                }
                consumer.commitSync();
            }
        } catch (SQLException | RuntimeException e) {
            failure = e;
        }
    }

    private boolean isNew(ConsumerRecord<byte[], byte[]> record) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement insert = connection.prepareStatement(INSERT)) {
            insert.setString(1, new String(record.key(), StandardCharsets.UTF_8)); // id
            return insert.executeUpdate() == 1;
        }
    }

    @Override
    public @Nullable Throwable failure() {
        return failure;
    }

    @Override
    public void close() throws InterruptedException {
        closed = true;
        thread.join();
    }
}
