package dev.hapax.messaging.sqs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Hapax;
import dev.hapax.HapaxListener;
import dev.hapax.Policy;
import dev.hapax.messaging.Backoff;
import dev.hapax.messaging.queues.HandledElsewhere;
import dev.hapax.messaging.queues.Ledger;
import dev.hapax.messaging.queues.TestDatabase;
import dev.hapax.postgres.PostgresStore;
import dev.hapax.store.OperationKey;
import dev.hapax.testkit.fault.FaultProxy;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A redrive policy takes no message whose handler did not fail, however long it has to wait. */
@Timeout(180)
class SqsOutageIT {
    private static final int MAX_RECEIVE_COUNT = 3;
    private static final int MESSAGES = 5;

    /** How long the database is away, at least; {@code ./hapax chaos} makes it a minute. */
    private static final Duration OUTAGE = Duration.ofSeconds(Integer.getInteger("hapax.outage.seconds", 1));

    private final ElasticMq sqs = ElasticMq.shared();
    private final String dead = sqs.newQueue();
    private final String queue = sqs.newQueueWithRedrive(MAX_RECEIVE_COUNT, dead);
    private final Map<String, Integer> refusals = new ConcurrentHashMap<>();
    private final Map<String, Integer> receiveCounts = new ConcurrentHashMap<>();

    @Test
    void storeOutageDeadLettersNothing() throws Exception {
        TestDatabase database = TestDatabase.create();
        for (int i = 0; i < MESSAGES; i++) {
            sqs.send(queue, "m" + i);
        }
        try (FaultProxy proxy = database.proxy();
                HikariDataSource pool = TestDatabase.pool(database.jdbcUrl(proxy.port()), 4);
                Hapax hapax = hapax(pool)) {
            pool.setConnectionTimeout(250);
            proxy.refuse();
            SqsConsumerLoop loop = loop(hapax);
            try (loop) {
                long until = System.nanoTime() + OUTAGE.toNanos();
                await().atMost(OUTAGE.plusMinutes(1))
                        .until(() -> sqs.size(dead) > 0 || (refusedBeyondLimit() && until - System.nanoTime() <= 0));
                assertThat(sqs.size(dead)).isZero();
                proxy.accept();
                await().atMost(Duration.ofSeconds(60)).until(() -> sqs.size(queue) == 0);
            }
        }
        assertThat(sqs.size(dead)).isZero();
        assertThat(receiveCounts)
                .hasSize(MESSAGES)
                .allSatisfy((key, count) -> assertThat(count).isEqualTo(1));
    }

    private boolean refusedBeyondLimit() {
        return refusals.size() == MESSAGES && refusals.values().stream().allMatch(count -> count > MAX_RECEIVE_COUNT);
    }

    @Test
    void messageHandledElsewhereIsHeld() throws Exception {
        sqs.send(queue, "a", "body");
        try (HandledElsewhere elsewhere = new HandledElsewhere("a", "body")) {
            AtomicInteger meetings = elsewhere.observed().inProgress;
            SqsConsumerLoop loop = loop(elsewhere.hapax());
            try (loop) {
                assertThat(elsewhere.statementsPerMeeting()).isLessThan(15);
                await().atMost(Duration.ofSeconds(60))
                        .until(() -> sqs.size(dead) > 0 || meetings.get() > MAX_RECEIVE_COUNT);
                assertThat(sqs.size(dead)).isZero();
                elsewhere.finish();
                await().atMost(Duration.ofSeconds(60)).until(() -> sqs.size(queue) == 0);
            }
            assertThat(elsewhere.observed().replayed).hasValue(1);
        }
        assertThat(sqs.size(dead)).isZero();
        assertThat(receiveCounts).isEmpty();
    }

    private Hapax hapax(HikariDataSource pool) {
        return Hapax.on(PostgresStore.builder(pool)
                        .ioTimeout(Duration.ofMillis(500))
                        .build())
                .scope(Ledger.NAME, Policy.defaults())
                .withoutSweeper()
                .listener(new HapaxListener() {
                    @Override
                    public void refused(OperationKey key, Throwable cause) {
                        refusals.merge(key.key(), 1, Integer::sum);
                    }
                })
                .build();
    }

    private SqsConsumerLoop loop(Hapax hapax) {
        return SqsConsumerLoop.of(
                        sqs.client(),
                        SqsMessages.consumer(Ledger.NAME, hapax)
                                .key(SqsMessages.attribute("key"))
                                .backoff(new Backoff(Duration.ofMillis(50), Duration.ofSeconds(1)))
                                .handling((message, lease) ->
                                        receiveCounts.merge(message.body(), message.receiveCount(), Math::max)))
                .queueUrl(queue)
                .waitTime(Duration.ofSeconds(1))
                .visibility(Duration.ofSeconds(3))
                .deadLetters(DeadLetters.byRedrive())
                .start();
    }
}
