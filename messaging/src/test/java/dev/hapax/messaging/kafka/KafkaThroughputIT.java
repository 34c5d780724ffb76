package dev.hapax.messaging.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.postgres.PostgresStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What claiming a poll at once is worth: messages a second, beside a consumer that inserts every message's key on its
 * own before it handles it. Same broker, same database, same messages; handlers do nothing in both.
 */
@Timeout(300)
class KafkaThroughputIT {
    private static final int MESSAGES = Integer.getInteger("hapax.messages", 8_000);
    private static final int PARTITIONS = 4;

    public static void main(String[] args) throws Exception {
        new KafkaThroughputIT().aPollClaimedAtOnceIsWorthFourTimesOneByOne();
        System.exit(0);
    }

    @Test
    void aPollClaimedAtOnceIsWorthFourTimesOneByOne() throws Exception {
        TestKafka kafka = TestKafka.shared();
        try (Ledger ledger = Ledger.shared()) {
            ledger.execute("CREATE TABLE seen (id text PRIMARY KEY)");
            String topic = kafka.newTopic(PARTITIONS);
            produce(kafka, topic);
            oneByOne(kafka, topic, "warm-up-one-by-one", ledger, MESSAGES / 10);
            polls(kafka, topic, "warm-up-polls", ledger, MESSAGES / 10);
            ledger.execute("TRUNCATE seen");
            ledger.execute("TRUNCATE hapax_operation");
            double oneByOne = oneByOne(kafka, topic, "one-by-one", ledger, MESSAGES);
            double polls = polls(kafka, topic, "polls", ledger, MESSAGES);
            System.out.printf(
                    "Kafka, %d messages: %.0f a second claimed by the poll, %.0f inserted one by one: %.1f times%n",
                    MESSAGES, polls, oneByOne, polls / oneByOne);
            assertThat(ledger.completed()).isEqualTo(MESSAGES);
            assertThat(polls / oneByOne).isGreaterThan(4);
        }
    }

    private static void produce(TestKafka kafka, String topic) {
        try (KafkaProducer<byte[], byte[]> producer = kafka.producer()) {
            for (int i = 0; i < MESSAGES; i++) {
                producer.send(TestKafka.record(topic, "message-" + i, "{\"amount\":" + i + "}"));
            }
        }
    }

    private static double polls(TestKafka kafka, String topic, String group, Ledger ledger, int messages)
            throws InterruptedException {
        CountDownLatch handled = new CountDownLatch(messages);
        try (Hapax hapax = Hapax.on(PostgresStore.over(ledger.pool()))
                .scope("throughput", Policy.defaults())
                .build()) {
            long begun = System.nanoTime();
            try (KafkaConsumerLoop loop = KafkaConsumerLoop.of(
                            kafka.consumer(group),
                            KafkaMessages.consumer("throughput", hapax)
                                    .key(KafkaMessages.recordKey())
                                    .handling((record, lease) -> handled.countDown()))
                    .topics(topic)
                    .deadLetters(DeadLetters.stopping())
                    .start()) {
                assertThat(handled.await(2, TimeUnit.MINUTES)).isTrue();
            }
            return messages * 1e9 / (System.nanoTime() - begun);
        }
    }

    private static double oneByOne(TestKafka kafka, String topic, String group, Ledger ledger, int messages)
            throws SQLException {
        int handled = 0;
        long begun = System.nanoTime();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(kafka.consumer(group), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(java.util.List.of(topic));
            while (handled < messages) {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(100));
                for (ConsumerRecord<byte[], byte[]> record : records) {
                    handled += insert(ledger, record);
                }
                consumer.commitSync();
            }
        }
        return handled * 1e9 / (System.nanoTime() - begun);
    }

    private static int insert(Ledger ledger, ConsumerRecord<byte[], byte[]> record) throws SQLException {
        try (Connection connection = ledger.pool().getConnection();
                PreparedStatement insert =
                        connection.prepareStatement("INSERT INTO seen (id) VALUES (?) ON CONFLICT DO NOTHING")) {
            insert.setString(1, new String(record.key(), java.nio.charset.StandardCharsets.UTF_8));
            return insert.executeUpdate();
        }
    }
}
