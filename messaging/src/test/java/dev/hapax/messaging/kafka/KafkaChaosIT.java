package dev.hapax.messaging.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.messaging.kafka.ChaosConsumer.Mode;
import dev.hapax.messaging.kafka.ChaosConsumer.Plan;
import dev.hapax.testkit.ChildJvm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Consumers in processes of their own, killed and rebalanced at random, while a producer sends some messages twice. The
 * number of messages is {@code -Dhapax.messages}.
 */
@Timeout(900)
class KafkaChaosIT {
    private static final int MESSAGES = Integer.getInteger("hapax.messages", 1_500);
    private static final long MOST = MESSAGES * 9L / 10;
    private static final int STEP = Math.min(MESSAGES / 8, 1_000);
    private static final int PARTITIONS = 6;
    private static final int CONSUMERS = 2;

    private final TestKafka kafka = TestKafka.shared();
    private final Random random = new Random();
    private int started;

    @Test
    void transactionalEffectsHappenExactlyOnceWhileConsumersAreKilled() throws Exception {
        try (Ledger ledger = Ledger.shared()) {
            chaos(plan(ledger, Mode.TRANSACTIONAL, RangeAssignor.class.getName()), ledger);
            assertThat(ledger.keys()).isEqualTo(MESSAGES);
            assertThat(ledger.rows()).isEqualTo(MESSAGES);
        }
    }

    @Test
    void leasedEffectsHappenAtMostOncePerAttemptWhileConsumersAreKilled() throws Exception {
        try (Ledger ledger = Ledger.shared()) {
            chaos(plan(ledger, Mode.LEASED, CooperativeStickyAssignor.class.getName()), ledger);
            System.out.printf("%d effects of %d messages%n", ledger.rows(), MESSAGES);
            assertThat(ledger.keys()).isEqualTo(MESSAGES);
            assertThat(ledger.attemptsTwice()).isZero();
        }
    }

    private void chaos(Plan plan, Ledger ledger) throws Exception {
        long begun = System.nanoTime();
        int records = produce(plan.topic());
        List<ChildJvm> consumers = new ArrayList<>();
        try {
            for (int i = 0; i < CONSUMERS; i++) {
                consumers.add(start(plan));
            }
            int kills = 0;
            while (ledger.completed() < MOST) {
                long progress = ledger.completed() + STEP + random.nextInt(STEP);
                Awaitility.await()
                        .atMost(Duration.ofMinutes(5))
                        .pollInterval(Duration.ofMillis(50))
                        .until(() -> ledger.completed() >= Math.min(progress, MOST));
                kills += replaceOne(consumers, plan) ? 1 : 0;
            }
            Awaitility.await()
                    .atMost(Duration.ofMinutes(2))
                    .pollInterval(Duration.ofMillis(200))
                    .until(() -> kafka.committed(plan.group(), plan.topic()) == records);
            System.out.printf(
                    "%s: %d messages in %d records, %d processes killed, %d closed, in %d s%n",
                    plan.mode(),
                    MESSAGES,
                    records,
                    kills,
                    started - CONSUMERS - kills,
                    Duration.ofNanos(System.nanoTime() - begun).toSeconds());
            assertThat(kills).isPositive();
        } finally {
            consumers.forEach(ChildJvm::close);
        }
        assertThat(ledger.completed()).isEqualTo(MESSAGES);
    }

    /** @return whether the old one was killed; every third one is closed instead */
    private boolean replaceOne(List<ChildJvm> consumers, Plan plan) throws Exception {
        ChildJvm victim = consumers.remove(random.nextInt(consumers.size()));
        boolean kill = started % 3 != 0;
        assertThat(victim.isAlive()).isTrue();
        if (kill) {
            victim.kill();
        } else {
            victim.say("close");
            victim.awaitLine("closed");
        }
        consumers.add(start(plan));
        return kill;
    }

    private ChildJvm start(Plan plan) throws Exception {
        return ChildJvm.start(ChaosConsumer.class, plan.toArguments("consumer-" + ++started));
    }

    /** Every fifth message is sent again, at once or later, as a producer does that got no answer. */
    private int produce(String topic) {
        int records = 0;
        List<ProducerRecord<byte[], byte[]>> again = new ArrayList<>();
        try (KafkaProducer<byte[], byte[]> producer = kafka.producer()) {
            for (int i = 0; i < MESSAGES; i++) {
                ProducerRecord<byte[], byte[]> message =
                        TestKafka.record(topic, "account-" + i % 40, "{\"amount\":" + i + "}");
                message.headers().add(Ledger.ID, TestKafka.bytes("message-" + i));
                producer.send(message);
                records++;
                if (random.nextInt(5) == 0) {
                    again.add(message);
                }
                if (!again.isEmpty() && random.nextInt(5) == 0) {
                    producer.send(again.remove(random.nextInt(again.size())));
                    records++;
                }
            }
            again.forEach(producer::send);
            return records + again.size();
        }
    }

    private Plan plan(Ledger ledger, Mode mode, String assignor) {
        String topic = kafka.newTopic(PARTITIONS);
        return new Plan(kafka.bootstrapServers(), ledger.jdbcUrl(), topic, "group-of-" + topic, mode, assignor);
    }
}
