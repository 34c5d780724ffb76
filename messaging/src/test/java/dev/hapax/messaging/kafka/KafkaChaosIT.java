package dev.hapax.messaging.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.messaging.kafka.ChaosConsumer.Mode;
import dev.hapax.messaging.kafka.ChaosConsumer.Plan;
import dev.hapax.testkit.ChildJvm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Consumers in processes of their own, killed and rebalanced at random, while a producer sends some messages twice. The
 * number of messages is {@code -Dhapax.messages}. Each test also asserts that the faults struck.
 */
@Timeout(900)
class KafkaChaosIT {
    private static final int MESSAGES = Integer.getInteger("hapax.messages", 450);
    private static final int STEP = Math.min(MESSAGES / 3, 1_000);
    private static final int PARTITIONS = 6;
    private static final int CONSUMERS = 2;

    private final TestKafka kafka = TestKafka.shared();
    private final Random random = new Random();
    private int started;
    private int killsInHand;

    /** A consumer's process. */
    private record Member(String owner, ChildJvm process) {}

    @Test
    void transactionalEffectsHappenExactlyOnce() throws Exception {
        try (Ledger ledger = Ledger.shared()) {
            chaos(plan(ledger, Mode.TRANSACTIONAL, RangeAssignor.class.getName()), ledger);
            assertThat(ledger.keys()).isEqualTo(MESSAGES);
            assertThat(ledger.rows()).isEqualTo(MESSAGES);
        }
    }

    @Test
    void leasedEffectsHappenAtMostOncePerAttempt() throws Exception {
        try (Ledger ledger = Ledger.shared()) {
            chaos(plan(ledger, Mode.LEASED, "consumer"), ledger);
            assertThat(ledger.keys()).isEqualTo(MESSAGES);
            assertThat(ledger.attemptsTwice()).isZero();
        }
    }

    private void chaos(Plan plan, Ledger ledger) throws Exception {
        int records = produce(plan.topic());
        List<Member> members = new ArrayList<>();
        try {
            for (int i = 0; i < CONSUMERS; i++) {
                members.add(start(plan));
            }
            for (int i = STEP; i + STEP <= MESSAGES; i += STEP) {
                int progress = i;
                await().until(() -> ledger.completed() >= progress);
                replaceOne(members, plan, ledger);
            }
            await().until(() -> kafka.committed(plan.group(), plan.topic()) == records);
        } finally {
            members.forEach(member -> member.process.close());
        }
        assertThat(ledger.completed()).isEqualTo(MESSAGES);
        assertFaultsStruck(ledger, records);
    }

    /** A run in which nothing was cut off or repeated would show nothing. */
    private void assertFaultsStruck(Ledger ledger, int records) {
        assertThat(killsInHand).as("kills while messages were in hand").isPositive();
        assertThat(ledger.redelivered())
                .as("records redelivered to another consumer")
                .isPositive();
        assertThat(ledger.begunAgain()).as("messages with a second attempt").isPositive();
        assertThat(records - MESSAGES).as("duplicates suppressed").isPositive();
    }

    /** Every third one is closed instead of killed. */
    private void replaceOne(List<Member> members, Plan plan, Ledger ledger) throws Exception {
        Member victim = members.get(random.nextInt(members.size()));
        assertThat(victim.process.isAlive()).isTrue();
        if (started % 3 == 0) {
            victim.process.say("close");
            victim.process.awaitLine("closed");
        } else {
            victim = stopWithMessagesInHand(members, ledger);
            victim.process.kill();
        }
        members.remove(victim);
        members.add(start(plan));
    }

    /** Stopped first, so that what it has in hand is still there when it is killed. */
    private Member stopWithMessagesInHand(List<Member> members, Ledger ledger) throws Exception {
        while (true) {
            Member member = members.get(random.nextInt(members.size()));
            if (ledger.inHand(member.owner) > 0) {
                member.process.signal("STOP");
                if (ledger.inHand(member.owner) > 0) {
                    killsInHand++;
                    return member;
                }
                member.process.signal("CONT");
            }
            if (ledger.completed() == MESSAGES) {
                return member;
            }
        }
    }

    private Member start(Plan plan) throws Exception {
        String owner = "consumer-" + ++started;
        return new Member(owner, ChildJvm.start(ChaosConsumer.class, plan.toArguments(owner)));
    }

    private static ConditionFactory await() {
        return Awaitility.await()
                .atMost(Duration.ofMinutes(5))
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(50));
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
