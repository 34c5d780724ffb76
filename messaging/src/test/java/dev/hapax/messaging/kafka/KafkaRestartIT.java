package dev.hapax.messaging.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.embedded.postgres.EmbeddedPostgres;
import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.postgres.PostgresStore;
import dev.hapax.postgres.PostgresTransactions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The broker and the database are killed and started again while messages are handled. */
@Timeout(300)
class KafkaRestartIT {
    private static final int MESSAGES = 1_500;

    private final TestKafka kafka = TestKafka.start();
    private final EmbeddedPostgres postgres = EmbeddedPostgres.start();
    private final Ledger ledger = Ledger.at(postgres.jdbcUrl());
    private final CountingDataSource pool = new CountingDataSource(ledger.pool());
    private final KafkaProducer<byte[], byte[]> producer = kafka.producer();
    private final Hapax hapax = Hapax.on(PostgresStore.over(pool))
            .scope("ledger", Policy.defaults().lease(Duration.ofSeconds(5)).maxAttempts(100))
            .build();
    private String topic;

    @BeforeEach
    void prepare() {
        ledger.migrate();
        ledger.create();
        topic = kafka.newTopic(3);
    }

    @AfterEach
    void close() {
        hapax.close();
        producer.close(Duration.ZERO);
        ledger.close();
        postgres.close();
        kafka.close();
    }

    @Test
    void transactionalConsumersSurviveRestartsWithEveryEffectOnce() throws Exception {
        surviveRestarts(KafkaMessages.consumer("ledger", hapax)
                .key(KafkaMessages.header(Ledger.ID))
                .handlingWithin(
                        PostgresTransactions.over(pool),
                        (record, connection, lease) -> ledger.write(connection, record, lease, "test")));
        assertThat(ledger.rows()).isEqualTo(MESSAGES);
    }

    @Test
    void leasedConsumersSurviveRestartsWithAtMostOneEffectPerAttempt() throws Exception {
        surviveRestarts(KafkaMessages.consumer("ledger", hapax)
                .key(KafkaMessages.header(Ledger.ID))
                .handling((record, lease) -> ledger.write(record, lease, "test")));
        assertThat(ledger.attemptsTwice()).isZero();
    }

    private void surviveRestarts(IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer) throws Exception {
        send(0, MESSAGES / 2);
        try (KafkaConsumerLoop loop = KafkaConsumerLoop.of(kafka.consumer("restarts"), consumer)
                .topics(topic)
                .deadLetters(DeadLetters.stopping())
                .start()) {
            await(() -> ledger.rows() > MESSAGES / 8);
            postgres.kill();
            assertThat(askedIn(Duration.ofSeconds(4)))
                    .as("connections asked for in 4 s without PostgreSQL")
                    .isLessThan(200);
            postgres.restart();
            await(() -> kafka.committed("restarts", topic) == MESSAGES / 2);
            assertThat(ledger.completed()).isEqualTo(MESSAGES / 2);
            kafka.kill();
            assertThat(askedIn(Duration.ofSeconds(4)))
                    .as("connections asked for in 4 s without Kafka")
                    .isLessThan(50);
            kafka.restart();
            send(MESSAGES / 2, MESSAGES);
            await(() -> kafka.committed("restarts", topic) == MESSAGES);
            assertThat(loop.stopped().toCompletableFuture()).isNotDone();
        }
        assertThat(ledger.keys()).isEqualTo(MESSAGES);
        assertThat(ledger.completed()).isEqualTo(MESSAGES);
    }

    private long askedIn(Duration duration) {
        long before = pool.asked();
        Awaitility.await().pollDelay(duration).atMost(duration.plusSeconds(10)).until(() -> true);
        long asked = pool.asked() - before;
        System.out.printf("%d connections asked for in %d s%n", asked, duration.toSeconds());
        return asked;
    }

    private static void await(BooleanSupplier condition) {
        Awaitility.await()
                .atMost(Duration.ofMinutes(2))
                .pollInterval(Duration.ofMillis(200))
                .ignoreExceptions()
                .until(condition::getAsBoolean);
    }

    private void send(int from, int to) throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (int i = from; i < to; i++) {
            ProducerRecord<byte[], byte[]> message = TestKafka.record(topic, "account-" + i % 40, "{}");
            message.headers().add(Ledger.ID, TestKafka.bytes("message-" + i));
            sent.add(producer.send(message));
        }
        for (Future<RecordMetadata> each : sent) {
            each.get();
        }
    }
}
