package dev.hapax.messaging.rabbit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.messaging.queues.HandledElsewhere;
import dev.hapax.messaging.queues.LedgerHandlers;
import dev.hapax.messaging.queues.LedgerHandlers.Mode;
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
    private static final int MESSAGES = 500;

    @Test
    void aBrokerThatIsKilledAndStartedAgainLosesNothingAndNothingIsDoneTwice() throws Exception {
        RabbitMqServer broker = RabbitMqServer.sharedOrSkip();
        TestDatabase database = TestDatabase.create();
        String queue = filled(broker);
        broker.writeDeclarations();
        try (HikariDataSource pool = database.pool(8);
                Hapax hapax = Hapax.on(PostgresStore.over(pool))
                        .scope(LedgerHandlers.NAME, Policy.defaults())
                        .build();
                RabbitConsumerLoop loop = start(broker, queue, hapax, pool, Mode.TRANSACTIONAL)) {
            await().until(() -> database.effects() > MESSAGES / 5);
            broker.kill();
            await().until(() -> !loop.isConsuming());
            broker.restart();
            await().atMost(Duration.ofMinutes(1)).until(() -> database.keysWithEffects() == MESSAGES);
            awaitNothingLeft(broker, queue);
        }
        assertThat(database.effects()).isEqualTo(MESSAGES);
        assertThat(broker.waiting(queue)).isZero();
    }

    @Test
    void anEmbeddedBrokerThatIsRestartedIsFoundAgain() throws Exception {
        try (QpidBroker broker = QpidBroker.start();
                Workplace work = new Workplace()) {
            String queue = broker.newQueue();
            RabbitConsumerLoop loop =
                    work.start(RabbitConsumerLoop.of(broker.factory(), work.consumer((message, lease) -> {}))
                            .queue(queue)
                            .deadLetters(DeadLetters.byBroker()));
            broker.send(queue, "before");
            await().until(() -> work.handled.size() == 1);
            broker.restart();
            broker.declare(queue, Map.of());
            broker.send(queue, "after");
            await().atMost(Duration.ofSeconds(30)).until(() -> work.handled.size() == 2);
            assertThat(loop.isConsuming()).isTrue();
        }
    }

    @Test
    void aDatabaseThatIsKilledAndStartedAgainLosesNothingAndNothingRunsHot() throws Exception {
        QpidBroker broker = QpidBroker.shared();
        String queue = filled(broker);
        try (Outage outage = new Outage()) {
            try (RabbitConsumerLoop loop = start(broker, queue, outage.hapax(), outage.pool(), Mode.LEASED)) {
                outage.after(MESSAGES / 20);
                await().atMost(Duration.ofMinutes(1))
                        .ignoreExceptions()
                        .until(() -> outage.database().completed() == MESSAGES);
                awaitNothingLeft(broker, queue);
                assertThat(loop.isConsuming()).isTrue();
            }
            assertThat(outage.database().attemptsWithTwoEffects()).isZero();
            assertThat(outage.refused()).isLessThan(20 * 64);
            System.out.printf("RabbitMQ: %d calls were refused%n", outage.refused());
        }
        assertThat(broker.waiting(queue)).isZero();
    }

    @Test
    void aMessageThatIsHandledElsewhereCostsAFewStatementsASecond() throws Exception {
        QpidBroker broker = QpidBroker.shared();
        String queue = broker.newQueue();
        broker.send(queue, "a", "body");
        try (HandledElsewhere elsewhere = new HandledElsewhere("a", "body");
                RabbitConsumerLoop loop = RabbitConsumerLoop.of(
                                broker.factory(),
                                RabbitMessages.consumer(LedgerHandlers.NAME, elsewhere.hapax())
                                        .handling((message, lease) -> {
                                            throw new AssertionError("it ran twice");
                                        }))
                        .queue(queue)
                        .deadLetters(DeadLetters.byBroker())
                        .start()) {
            long statements = elsewhere.statementsWithin(Duration.ofSeconds(4));
            System.out.printf("RabbitMQ: %d statements in 4 s, met %d times%n", statements, elsewhere.meetings());
            assertThat(elsewhere.meetings()).isBetween(2, 8);
            assertThat(statements).isLessThan(100);
            elsewhere.finish();
            await().until(() -> elsewhere.replays() == 1);
            loop.close();
            assertThat(broker.waiting(queue)).isZero();
        }
    }

    /** The repeats too; RabbitMQ does not count those that it waits to hear of. */
    private static void awaitNothingLeft(Broker broker, String queue) {
        await().during(Duration.ofSeconds(1)).atMost(Duration.ofSeconds(30)).until(() -> broker.waiting(queue) == 0);
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

    private static RabbitConsumerLoop start(
            Broker broker, String queue, Hapax hapax, HikariDataSource pool, Mode mode) {
        return RabbitConsumerLoop.of(
                        broker.factory(),
                        LedgerHandlers.consumer(
                                RabbitMessages.consumer(LedgerHandlers.NAME, hapax),
                                RabbitMessage::messageId,
                                mode,
                                pool))
                .queue(queue)
                .deadLetters(DeadLetters.byBroker())
                .start();
    }
}
