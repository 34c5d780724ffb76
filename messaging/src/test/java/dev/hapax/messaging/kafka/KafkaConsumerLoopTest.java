package dev.hapax.messaging.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.memory.MemoryStore;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class KafkaConsumerLoopTest {
    private static TestKafka kafka;
    private static KafkaProducer<byte[], byte[]> producer;

    private final Hapax hapax =
            Hapax.on(new MemoryStore()).scope("mailer", Policy.defaults()).build();

    @BeforeAll
    static void start() {
        kafka = TestKafka.start();
        producer = kafka.producer();
    }

    @AfterAll
    static void stop() {
        producer.close();
        kafka.close();
    }

    @AfterEach
    void close() {
        hapax.close();
    }

    @Test
    void everyRecordIsHandledOnceInOrderAndCommitted() {
        String topic = kafka.newTopic(1);
        List<String> seen = new CopyOnWriteArrayList<>();
        for (int i = 0; i < 200; i++) {
            producer.send(TestKafka.record(topic, "m" + i, "v" + i));
            producer.send(TestKafka.record(topic, "m" + i, "v" + i));
        }
        producer.flush();
        var consumer = KafkaMessages.consumer("mailer", hapax)
                .key(KafkaMessages.recordKey())
                .handling(
                        (record, lease) -> seen.add(new String(record.key(), java.nio.charset.StandardCharsets.UTF_8)));
        try (KafkaConsumerLoop loop = KafkaConsumerLoop.of(kafka.consumer("g1"), consumer)
                .topics(topic)
                .deadLetters(DeadLetters.stopping())
                .start()) {
            Awaitility.await().atMost(TestKafka.patience()).until(() -> kafka.committed("g1", topic) == 400);
        }
        assertThat(seen).hasSize(200);
    }
}
