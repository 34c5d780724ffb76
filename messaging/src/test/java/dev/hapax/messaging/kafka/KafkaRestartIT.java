package dev.hapax.messaging.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.Hapax;
import dev.hapax.HapaxListener;
import dev.hapax.Policy;
import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.postgres.PostgresStore;
import dev.hapax.postgres.PostgresTransactions;
import dev.hapax.store.OperationKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The database and the broker are killed and started again while handlers run. */
@Timeout(300)
class KafkaRestartIT {
    private static final int MESSAGES = Math.min(Integer.getInteger("hapax.messages", 400), 4_000);
    private static final int DUPLICATES = MESSAGES / 10;

    private final TestKafka kafka = TestKafka.shared();
    private final Ledger ledger = Ledger.shared();
    private final CountingDataSource pool = new CountingDataSource(ledger.pool());
    private final KafkaProducer<byte[], byte[]> producer = kafka.producer();
    private final String topic = kafka.newTopic(3);
    private final String group = "group-of-" + topic;
    private final AtomicInteger runs = new AtomicInteger();
    private final AtomicInteger inHand = new AtomicInteger();
    private final AtomicInteger replayed = new AtomicInteger();
    private volatile int freeRuns;
    private volatile CountDownLatch gate = new CountDownLatch(0);
    private final Hapax hapax = Hapax.on(PostgresStore.over(pool))
            .scope("ledger", Policy.defaults().lease(Duration.ofSeconds(3)).maxAttempts(100))
            .listener(new HapaxListener() {
                @Override
                public void replayed(OperationKey key) {
                    replayed.incrementAndGet();
                }
            })
            .build();

    @AfterEach
    void close() {
        hapax.close();
        producer.close(Duration.ZERO);
        ledger.close();
    }

    @Test
    void transactionalConsumersSurviveRestarts() throws Exception {
        surviveRestarts(KafkaMessages.consumer("ledger", hapax)
                .key(KafkaMessages.header(Ledger.ID))
                .handlingWithin(PostgresTransactions.over(pool), (record, connection, lease) -> {
                    pass();
                    ledger.write(connection, record, lease, "test");
                }));
        assertThat(ledger.rows()).isEqualTo(MESSAGES);
    }

    @Test
    void leasedConsumersSurviveRestarts() throws Exception {
        surviveRestarts(KafkaMessages.consumer("ledger", hapax)
                .key(KafkaMessages.header(Ledger.ID))
                .handling((record, lease) -> {
                    pass();
                    ledger.write(record, lease, "test");
                }));
        assertThat(ledger.attemptsTwice()).isZero();
    }

    /** Begins a handler, which waits in the middle if the gate is shut for it. */
    private void pass() throws InterruptedException {
        if (runs.incrementAndGet() > freeRuns) {
            inHand.incrementAndGet();
            try {
                gate.await(1, TimeUnit.MINUTES);
            } finally {
                inHand.decrementAndGet();
            }
        }
    }

    private void surviveRestarts(IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer) throws Exception {
        try (KafkaConsumerLoop loop = KafkaConsumerLoop.of(kafka.consumer(group), consumer)
                .topics(topic)
                .deadLetters(DeadLetters.stopping())
                .livenessTimeout(Duration.ofSeconds(1))
                .start()) {
            killWhileHandling(0, MESSAGES / 2, Ledger.server()::kill);
            assertFewConnections(() -> Ledger.server().restart());
            await(() -> kafka.committed(group, topic) == MESSAGES / 2 + DUPLICATES);
            assertThat(ledger.completed()).isEqualTo(MESSAGES / 2);
            assertThat(runs.get()).as("runs, with second attempts").isGreaterThan(MESSAGES / 2);

            killWhileHandling(MESSAGES / 2, MESSAGES, kafka::kill);
            assertFewConnections(() -> {
                await(() -> !loop.isConsuming());
                kafka.restart();
            });
            await(loop::isConsuming);
            await(() -> kafka.committed(group, topic) == MESSAGES + 2 * DUPLICATES);
            assertThat(loop.stopped().toCompletableFuture()).isNotDone();
        }
        assertThat(ledger.keys()).isEqualTo(MESSAGES);
        assertThat(ledger.completed()).isEqualTo(MESSAGES);
        assertThat(replayed.get()).as("duplicates suppressed").isPositive();
    }

    private interface Step {
        void run() throws Exception;
    }

    /** A quarter of the messages is handled; then, with handlers waiting in the middle, a server is killed. */
    private void killWhileHandling(int from, int to, Step kill) throws Exception {
        CountDownLatch shut = new CountDownLatch(1);
        gate = shut;
        freeRuns = runs.get() + (to - from) / 4;
        send(from, to);
        await(() -> inHand.get() > 0);
        kill.run();
        assertThat(inHand.get()).as("handlers in hand at the kill").isPositive();
        shut.countDown();
    }

    /** While a server is away, the loop must not ask for connections again and again. */
    private void assertFewConnections(Step outage) throws Exception {
        long before = pool.asked();
        long begun = System.nanoTime();
        outage.run();
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begun);
        assertThat(pool.asked() - before)
                .as("connections asked for in %d s", seconds)
                .isLessThan(100 + 50 * seconds);
    }

    private static void await(BooleanSupplier condition) {
        Awaitility.await()
                .atMost(Duration.ofMinutes(2))
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(50))
                .ignoreExceptions()
                .until(condition::getAsBoolean);
    }

    /** Some messages are sent twice. */
    private void send(int from, int to) throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (int i = from; i < to; i++) {
            ProducerRecord<byte[], byte[]> message = TestKafka.record(topic, "account-" + i % 40, "{}");
            message.headers().add(Ledger.ID, TestKafka.bytes("message-" + i));
            sent.add(producer.send(message));
            if (i - from < DUPLICATES) {
                sent.add(producer.send(message));
            }
        }
        for (Future<RecordMetadata> each : sent) {
            each.get();
        }
    }
}
