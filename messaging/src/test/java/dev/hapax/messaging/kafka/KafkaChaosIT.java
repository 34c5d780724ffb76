package dev.hapax.messaging.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.messaging.queues.Chaos;
import dev.hapax.messaging.queues.Chaos.Plan;
import dev.hapax.messaging.queues.Ledger.Mode;
import dev.hapax.messaging.queues.TestDatabase;
import java.util.List;
import org.apache.kafka.clients.consumer.GroupProtocol;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(900)
class KafkaChaosIT {
    private static final int PARTITIONS = 6;

    private final TestKafka kafka = TestKafka.shared();
    private final TestDatabase database = TestDatabase.create();

    @Test
    void transactionalEffectsHappenExactlyOnce() throws Exception {
        chaos(Mode.TRANSACTIONAL, GroupProtocol.CLASSIC);
        assertThat(database.keysWithEffects()).isEqualTo(Chaos.MESSAGES);
        assertThat(database.effects()).isEqualTo(Chaos.MESSAGES);
    }

    @Test
    void leasedEffectsHappenAtMostOncePerAttempt() throws Exception {
        chaos(Mode.LEASED, GroupProtocol.CONSUMER);
        assertThat(database.keysWithEffects()).isEqualTo(Chaos.MESSAGES);
        assertThat(database.attemptsWithTwoEffects()).isZero();
    }

    private void chaos(Mode mode, GroupProtocol protocol) throws Exception {
        String topic = kafka.newTopic(PARTITIONS);
        List<Integer> sends = Chaos.sends(Chaos.MESSAGES);
        try (KafkaProducer<byte[], byte[]> producer = kafka.producer()) {
            sends.forEach(message -> producer.send(TestKafka.record(topic, "m" + message, "body of " + message)));
        }
        List<String> process = List.of(kafka.bootstrapServers(), topic, protocol.name);
        new Chaos(KafkaWorker.class, new Plan(Chaos.MESSAGES, mode, process), database)
                .run(() -> kafka.committed(KafkaWorker.group(topic), topic) == sends.size());
    }
}
