package dev.hapax.messaging.sqs;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.messaging.queues.LedgerHandlers;
import dev.hapax.messaging.queues.LedgerHandlers.Mode;
import dev.hapax.messaging.queues.TestDatabase;
import dev.hapax.postgres.PostgresStore;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** One of many processes that consume a queue and write a ledger, until it is killed. */
final class SqsWorker {
    private SqsWorker() {}

    /** @param args JDBC URL, the server's port, queue, dead letters, mode */
    public static void main(String[] args) throws Exception {
        HikariDataSource pool = TestDatabase.pool(args[0], 8);
        Hapax hapax = Hapax.on(PostgresStore.over(pool))
                .scope(
                        LedgerHandlers.NAME,
                        Policy.defaults().lease(Duration.ofSeconds(2)).maxAttempts(1000))
                .sweepEvery(Duration.ofSeconds(1))
                .build();
        SqsConsumerLoop.of(
                        ElasticMq.client(Integer.parseInt(args[1])),
                        LedgerHandlers.consumer(
                                SqsMessages.consumer(LedgerHandlers.NAME, hapax).key(SqsMessages.attribute("key")),
                                message -> String.valueOf(message.attribute("key")),
                                Mode.valueOf(args[4]),
                                pool))
                .queueUrl(args[2])
                .waitTime(Duration.ofSeconds(1))
                .visibility(Duration.ofSeconds(3))
                .deadLetters(DeadLetters.toQueue(args[3]))
                .start();
        new CountDownLatch(1).await();
    }
}
