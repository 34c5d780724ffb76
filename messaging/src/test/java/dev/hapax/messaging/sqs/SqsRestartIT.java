package dev.hapax.messaging.sqs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.messaging.queues.FaultGate;
import dev.hapax.messaging.queues.Ledger;
import dev.hapax.messaging.queues.Ledger.Mode;
import dev.hapax.messaging.queues.Observations;
import dev.hapax.messaging.queues.Outage;
import dev.hapax.messaging.queues.TestDatabase;
import dev.hapax.postgres.PostgresStore;
import dev.hapax.testkit.fault.FaultProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;

/** SQS and the database go away and come back: nothing is lost, nothing is stuck, nothing runs hot. */
@Timeout(240)
class SqsRestartIT {
    private static final int MESSAGES = 150;

    private final FaultGate gate = new FaultGate(MESSAGES / 2);

    private final ElasticMq sqs = ElasticMq.shared();

    @Test
    void outageOfSqsLosesAndRepeatsNothing() throws Exception {
        TestDatabase database = TestDatabase.create();
        String queue = filled();
        Observations observed = new Observations();
        try (FaultProxy proxy = FaultProxy.to("127.0.0.1", sqs.port());
                SqsAsyncClient client = ElasticMq.client(proxy.port());
                HikariDataSource pool = database.pool(8);
                Hapax hapax = Hapax.on(PostgresStore.over(pool))
                        .scope(Ledger.NAME, Policy.defaults())
                        .listener(observed)
                        .build();
                SqsConsumerLoop loop = start(client, queue, consumer(hapax, observed, pool, Mode.TRANSACTIONAL))) {
            gate.awaitHeld();
            proxy.refuse();
            proxy.cut();
            await().atMost(Duration.ofSeconds(60)).until(() -> !loop.isConsuming());
            gate.open();
            awaitVisible(queue);
            proxy.accept();
            await().atMost(Duration.ofMinutes(1))
                    .until(() -> database.keysWithEffects() == MESSAGES && sqs.size(queue) == 0);
        }
        assertThat(database.effects()).isEqualTo(MESSAGES);
        assertThat(observed.redelivered).hasPositiveValue();
        assertThat(observed.replayed).hasValueGreaterThanOrEqualTo(MESSAGES / 5);
        assertThat(observed.retried).hasPositiveValue();
    }

    /** Waits until SQS shows again what the loop had received. */
    private void awaitVisible(String queue) {
        await().atMost(Duration.ofSeconds(60)).until(() -> sqs.waiting(queue) == sqs.size(queue));
    }

    @Test
    void killedDatabaseLosesNothingAndIsNotFlooded() throws Exception {
        String queue = filled();
        try (Outage outage = new Outage()) {
            Observations observed = outage.observed();
            SqsConsumerLoop loop =
                    start(sqs.client(), queue, consumer(outage.hapax(), observed, outage.pool(), Mode.LEASED));
            try (loop) {
                outage.strike(gate);
                await().atMost(Duration.ofMinutes(1))
                        .ignoreExceptions()
                        .until(() -> outage.database().completed() == MESSAGES && sqs.size(queue) == 0);
            }
            assertThat(outage.database().attemptsWithTwoEffects()).isZero();
            assertThat(observed.refused).hasPositiveValue().hasValueLessThan(20 * 100);
            assertThat(observed.retried).hasPositiveValue();
            assertThat(observed.replayed).hasValueGreaterThanOrEqualTo(MESSAGES / 5);
            System.out.printf("SQS: %d calls were refused%n", observed.refused.get());
        }
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

    private IdempotentConsumer<SqsMessage> consumer(
            Hapax hapax, Observations observed, HikariDataSource pool, Mode mode) {
        return Ledger.consumer(
                SqsMessages.consumer(Ledger.NAME, hapax)
                        .key(observed.counting(it -> it.receiveCount() > 1, SqsMessages.attribute("key"))),
                message -> String.valueOf(message.attribute("key")),
                mode,
                pool,
                gate);
    }

    private static SqsConsumerLoop start(SqsAsyncClient client, String queue, IdempotentConsumer<SqsMessage> consumer) {
        return SqsConsumerLoop.of(client, consumer)
                .queueUrl(queue)
                .waitTime(Duration.ofSeconds(1))
                .visibility(Duration.ofSeconds(3))
                .deadLetters(DeadLetters.byRedrive())
                .start();
    }
}
