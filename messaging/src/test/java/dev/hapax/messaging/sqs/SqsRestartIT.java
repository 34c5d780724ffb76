package dev.hapax.messaging.sqs;

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
import dev.hapax.testkit.fault.FaultProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;

/** SQS and the database go away and come back: nothing is lost, nothing is stuck, nothing runs hot. */
@Timeout(240)
class SqsRestartIT {
    private static final int MESSAGES = 300;

    private final ElasticMq sqs = ElasticMq.shared();

    @Test
    void sqsThatCannotBeReachedForAWhileLosesNothingAndNothingIsDoneTwice() throws Exception {
        TestDatabase database = TestDatabase.create();
        String queue = filled();
        try (FaultProxy proxy = FaultProxy.to("127.0.0.1", sqs.port());
                SqsAsyncClient client = ElasticMq.client(proxy.port());
                HikariDataSource pool = database.pool(8);
                Hapax hapax = Hapax.on(PostgresStore.over(pool))
                        .scope(LedgerHandlers.NAME, Policy.defaults())
                        .build();
                SqsConsumerLoop loop = start(client, queue, hapax, pool, Mode.TRANSACTIONAL)) {
            await().until(() -> database.effects() > MESSAGES / 5);
            proxy.refuse();
            proxy.cut();
            long down = System.nanoTime() + Duration.ofSeconds(4).toNanos();
            await().atMost(Duration.ofSeconds(20)).until(() -> down - System.nanoTime() <= 0);
            proxy.accept();
            await().atMost(Duration.ofMinutes(1))
                    .until(() -> database.keysWithEffects() == MESSAGES && sqs.size(queue) == 0);
            loop.close();
        }
        assertThat(database.effects()).isEqualTo(MESSAGES);
    }

    @Test
    void aDatabaseThatIsKilledAndStartedAgainLosesNothingAndNothingRunsHot() throws Exception {
        String queue = filled();
        try (Outage outage = new Outage()) {
            SqsConsumerLoop loop = start(sqs.client(), queue, outage.hapax(), outage.pool(), Mode.LEASED);
            try (loop) {
                outage.after(MESSAGES / 20);
                await().atMost(Duration.ofMinutes(1))
                        .ignoreExceptions()
                        .until(() -> outage.database().completed() == MESSAGES && sqs.size(queue) == 0);
            }
            assertThat(outage.database().attemptsWithTwoEffects()).isZero();
            assertThat(outage.refused()).isLessThan(20 * 100);
            System.out.printf("SQS: %d calls were refused%n", outage.refused());
        }
    }

    @Test
    void aMessageThatIsHandledElsewhereCostsAFewStatementsASecond() throws Exception {
        String queue = sqs.newQueue();
        AtomicInteger runs = new AtomicInteger();
        sqs.send(queue, "a", "body");
        try (HandledElsewhere elsewhere = new HandledElsewhere("a", "body")) {
            SqsConsumerLoop loop = SqsConsumerLoop.of(
                            sqs.client(),
                            SqsMessages.consumer(LedgerHandlers.NAME, elsewhere.hapax())
                                    .key(SqsMessages.attribute("key"))
                                    .handling((message, lease) -> runs.incrementAndGet()))
                    .queueUrl(queue)
                    .waitTime(Duration.ofSeconds(1))
                    .deadLetters(DeadLetters.byRedrive())
                    .start();
            try (loop) {
                long statements = elsewhere.statementsWithin(Duration.ofSeconds(4));
                System.out.printf("SQS: %d statements in 4 s, met %d times%n", statements, elsewhere.meetings());
                assertThat(elsewhere.meetings()).isBetween(2, 8);
                assertThat(statements).isLessThan(100);
                elsewhere.finish();
                await().until(() -> sqs.size(queue) == 0);
            }
        }
        assertThat(runs).hasValue(0);
    }

    private String filled() {
        String queue = sqs.newQueue();
        List<Integer> sends = new ArrayList<>();
        for (int i = 0; i < MESSAGES; i++) {
            sends.add(i);
            if (i % 5 == 0) {
                sends.add(i);
            }
        }
        sqs.sendAll(queue, sends, 1);
        return queue;
    }

    private SqsConsumerLoop start(SqsAsyncClient client, String queue, Hapax hapax, HikariDataSource pool, Mode mode) {
        return SqsConsumerLoop.of(
                        client,
                        LedgerHandlers.consumer(
                                SqsMessages.consumer(LedgerHandlers.NAME, hapax).key(SqsMessages.attribute("key")),
                                message -> String.valueOf(message.attribute("key")),
                                mode,
                                pool))
                .queueUrl(queue)
                .waitTime(Duration.ofSeconds(1))
                .visibility(Duration.ofSeconds(3))
                .deadLetters(DeadLetters.byRedrive())
                .start();
    }
}
