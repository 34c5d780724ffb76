package dev.hapax.messaging.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.messaging.queues.FaultGate;
import dev.hapax.messaging.queues.Ledger;
import dev.hapax.messaging.queues.Ledger.Mode;
import dev.hapax.messaging.queues.Observations;
import dev.hapax.messaging.queues.Outage;
import dev.hapax.messaging.queues.TestDatabase;
import dev.hapax.postgres.PostgresStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The broker and the database go away and come back: nothing is lost, nothing is stuck, nothing runs hot. */
@Timeout(300)
class KafkaRestartIT {
    private static final int MESSAGES = 200;
    private static final int FAIL_FIRST = MESSAGES / 50;
    private static final int RECORDS = MESSAGES + MESSAGES / 5;

    private final TestKafka kafka = TestKafka.shared();
    private final String topic = kafka.newTopic(3);
    private final String group = "group-of-" + topic;
    private final FaultGate gate = new FaultGate(MESSAGES / 2);

    @ParameterizedTest
    @EnumSource
    void killedBrokerLosesAndRepeatsNothing(Mode mode) throws Exception {
        send();
        TestDatabase database = TestDatabase.create();
        Observations observed = new Observations();
        try (HikariDataSource pool = database.pool(8);
                Hapax hapax = Hapax.on(PostgresStore.over(pool))
                        .scope(Ledger.NAME, Policy.defaults())
                        .listener(observed)
                        .build();
                KafkaConsumerLoop loop = start(hapax, pool, mode)) {
            gate.awaitHeld();
            kafka.kill();
            await().until(() -> !loop.isConsuming());
            gate.open();
            kafka.restart();
            await().until(loop::isConsuming);
            awaitCommitted();
            assertThat(loop.stopped().toCompletableFuture()).isNotDone();
        }
        assertEffects(database, mode);
        assertThat(observed.replayed).hasValueGreaterThanOrEqualTo(MESSAGES / 5);
    }

    @Test
    void killedDatabaseLosesNothingAndIsNotFlooded() throws Exception {
        send();
        try (Outage outage = new Outage()) {
            Observations observed = outage.observed();
            try (KafkaConsumerLoop loop = start(outage.hapax(), outage.pool(), Mode.LEASED)) {
                outage.strike(gate);
                awaitCommitted();
                assertThat(loop.isConsuming()).isTrue();
            }
            assertEffects(outage.database(), Mode.LEASED);
            assertThat(observed.refused).hasPositiveValue().hasValueLessThan(20 * MESSAGES);
            assertThat(observed.retried).hasPositiveValue();
            assertThat(observed.replayed).hasPositiveValue();
        }
    }

    @Test
    void transactionsOfAKilledDatabaseRunAgain() throws Exception {
        send();
        try (Outage outage = new Outage();
                KafkaConsumerLoop loop = start(outage.hapax(), outage.pool(), Mode.TRANSACTIONAL)) {
            outage.strike(gate, () -> outage.pool().getHikariPoolMXBean().getActiveConnections() == 0);
            awaitCommitted();
            assertThat(loop.isConsuming()).isTrue();
            assertEffects(outage.database(), Mode.TRANSACTIONAL);
            assertThat(gate.handlers()).as("handlers, those that ran again too").isGreaterThan(MESSAGES + FAIL_FIRST);
        }
    }

    private KafkaConsumerLoop start(Hapax hapax, HikariDataSource pool, Mode mode) {
        return KafkaConsumerLoop.of(
                        kafka.consumer(group),
                        Ledger.consumer(
                                KafkaMessages.consumer(Ledger.NAME, hapax).key(KafkaMessages.recordKey()),
                                TestKafka::key,
                                mode,
                                pool,
                                gate))
                .topics(topic)
                .deadLetters(DeadLetters.stopping())
                .livenessTimeout(Duration.ofSeconds(1))
                .start();
    }

    private void awaitCommitted() {
        await().atMost(Duration.ofMinutes(2)).until(() -> kafka.committed(group, topic) == RECORDS);
    }

    private static void assertEffects(TestDatabase database, Mode mode) {
        assertThat(database.completed()).isEqualTo(MESSAGES);
        assertThat(database.keysWithEffects()).isEqualTo(MESSAGES);
        assertThat(database.attemptsWithTwoEffects()).isZero();
        if (mode == Mode.TRANSACTIONAL) {
            assertThat(database.effects()).isEqualTo(MESSAGES);
        }
    }

    /** Every fifth message is sent twice. */
    private void send() throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        try (KafkaProducer<byte[], byte[]> producer = kafka.producer()) {
            for (int i = 0; i < MESSAGES; i++) {
                for (int copy = 0; copy < (i % 5 == 0 ? 2 : 1); copy++) {
                    sent.add(producer.send(TestKafka.record(topic, "m" + i, "body of " + i)));
                }
            }
            for (Future<RecordMetadata> each : sent) {
                each.get();
            }
        }
    }
}
