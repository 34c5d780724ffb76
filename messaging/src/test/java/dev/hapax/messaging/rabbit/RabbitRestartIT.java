package dev.hapax.messaging.rabbit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.messaging.queues.ConsumerFixture;
import dev.hapax.messaging.queues.FaultGate;
import dev.hapax.messaging.queues.HandledElsewhere;
import dev.hapax.messaging.queues.Ledger;
import dev.hapax.messaging.queues.Ledger.Mode;
import dev.hapax.messaging.queues.Observations;
import dev.hapax.messaging.queues.Outage;
import dev.hapax.messaging.queues.TestDatabase;
import dev.hapax.postgres.PostgresStore;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The broker and the database go away and come back: nothing is lost, nothing is stuck, nothing runs hot. */
@Timeout(240)
class RabbitRestartIT {
    private static final int MESSAGES = 200;

    private final FaultGate gate = new FaultGate(MESSAGES / 2);

    @Test
    void killedBrokerLosesAndRepeatsNothing() throws Exception {
        RabbitMqServer broker = RabbitMqServer.sharedOrSkip();
        TestDatabase database = TestDatabase.create();
        String queue = filled(broker);
        broker.writeDeclarations();
        Observations observed = new Observations();
        try (HikariDataSource pool = database.pool(8);
                Hapax hapax = Hapax.on(PostgresStore.over(pool))
                        .scope(Ledger.NAME, Policy.defaults())
                        .listener(observed)
                        .build();
                RabbitConsumerLoop loop = start(broker, queue, consumer(hapax, observed, pool, Mode.TRANSACTIONAL))) {
            gate.awaitHeld();
            broker.kill();
            await().until(() -> !loop.isConsuming());
            gate.open();
            broker.restart();
            await().atMost(Duration.ofMinutes(1)).until(() -> database.keysWithEffects() == MESSAGES);
            loop.close();
            drain(broker, queue, consumer(hapax, observed, pool, Mode.TRANSACTIONAL));
        }
        assertThat(database.effects()).isEqualTo(MESSAGES);
        assertThat(observed.redelivered).hasPositiveValue();
        assertThat(observed.replayed).hasValueGreaterThanOrEqualTo(MESSAGES / 5);
        assertThat(observed.retried).hasPositiveValue();
    }

    @Test
    void loopGoesOnAfterABrokerRestart() throws Exception {
        try (QpidBroker broker = QpidBroker.start();
                ConsumerFixture<RabbitMessage> work = RabbitConsumerContract.fixture()) {
            String queue = broker.newQueue();
            RabbitConsumerLoop loop =
                    work.closing(RabbitConsumerLoop.of(broker.factory(), work.consumer((message, lease) -> {}))
                            .queue(queue)
                            .deadLetters(DeadLetters.byBroker())
                            .start());
            broker.send(queue, "before");
            await().until(() -> work.handled.size() == 1);
            broker.restart();
            broker.declare(queue, Map.of());
            broker.send(queue, "after");
            await().atMost(Duration.ofSeconds(60)).until(() -> work.handled.size() == 2);
            assertThat(loop.isConsuming()).isTrue();
        }
    }

    @Test
    void killedDatabaseLosesNothingAndIsNotFlooded() throws Exception {
        QpidBroker broker = QpidBroker.shared();
        String queue = filled(broker);
        try (Outage outage = new Outage()) {
            Observations observed = outage.observed();
            try (RabbitConsumerLoop loop =
                    start(broker, queue, consumer(outage.hapax(), observed, outage.pool(), Mode.LEASED))) {
                outage.strike(gate);
                await().atMost(Duration.ofMinutes(1))
                        .ignoreExceptions()
                        .until(() -> outage.database().completed() == MESSAGES);
                assertThat(loop.isConsuming()).isTrue();
            }
            drain(broker, queue, consumer(outage.hapax(), observed, outage.pool(), Mode.LEASED));
            assertThat(outage.database().attemptsWithTwoEffects()).isZero();
            assertThat(observed.refused).hasPositiveValue().hasValueLessThan(20 * 64);
            assertThat(observed.retried).hasPositiveValue();
            assertThat(observed.replayed).hasValueGreaterThanOrEqualTo(MESSAGES / 5);
            System.out.printf("RabbitMQ: %d calls were refused%n", observed.refused.get());
        }
    }

    @Test
    void messageHandledElsewhereCostsFewStatements() throws Exception {
        QpidBroker broker = QpidBroker.shared();
        String queue = broker.newQueue();
        broker.send(queue, "a", "body");
        try (HandledElsewhere elsewhere = new HandledElsewhere("a", "body");
                RabbitConsumerLoop loop = RabbitConsumerLoop.of(
                                broker.factory(),
                                RabbitMessages.consumer(Ledger.NAME, elsewhere.hapax())
                                        .handling((message, lease) -> {
                                            throw new AssertionError("it ran twice");
                                        }))
                        .queue(queue)
                        .deadLetters(DeadLetters.byBroker())
                        .start()) {
            assertThat(elsewhere.statementsPerMeeting()).isLessThan(15);
            elsewhere.finish();
            await().until(() -> elsewhere.observed().replayed.get() == 1);
            loop.close();
            assertThat(broker.waiting(queue)).isZero();
        }
    }

    /** Consumes what is left. RabbitMQ does not count what a loop holds, only what it gave back when it was closed. */
    private static void drain(Broker broker, String queue, IdempotentConsumer<RabbitMessage> consumer) {
        await().atMost(Duration.ofSeconds(60)).until(() -> {
            RabbitConsumerLoop loop = start(broker, queue, consumer);
            try (loop) {
                await().until(() -> broker.waiting(queue) == 0);
            }
            return broker.waiting(queue) == 0;
        });
    }

    private static String filled(Broker broker) {
        String queue = broker.newQueue();
        broker.call(channel -> {
            channel.confirmSelect();
            for (int i = 0; i < MESSAGES; i++) {
                Broker.publish(channel, queue, "m" + i, "body of " + i);
                if (i % 5 == 0) {
                    Broker.publish(channel, queue, "m" + i, "body of " + i);
                }
            }
            return channel.waitForConfirms(30_000);
        });
        return queue;
    }

    private IdempotentConsumer<RabbitMessage> consumer(
            Hapax hapax, Observations observed, HikariDataSource pool, Mode mode) {
        return Ledger.consumer(
                RabbitMessages.consumer(Ledger.NAME, hapax)
                        .key(observed.counting(RabbitMessage::redelivered, RabbitMessage::messageId)),
                RabbitMessage::messageId,
                mode,
                pool,
                gate);
    }

    private static RabbitConsumerLoop start(Broker broker, String queue, IdempotentConsumer<RabbitMessage> consumer) {
        return RabbitConsumerLoop.of(broker.factory(), consumer)
                .queue(queue)
                .deadLetters(DeadLetters.byBroker())
                .start();
    }
}
