package dev.hapax.messaging.rabbit;

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
final class RabbitWorker {
    private RabbitWorker() {}

    /** @param args JDBC URL, the broker's port, queue, mode */
    public static void main(String[] args) throws Exception {
        HikariDataSource pool = TestDatabase.pool(args[0], 8);
        Hapax hapax = Hapax.on(PostgresStore.over(pool))
                .scope(
                        LedgerHandlers.NAME,
                        Policy.defaults().lease(Duration.ofSeconds(2)).maxAttempts(1000))
                .sweepEvery(Duration.ofSeconds(1))
                .build();
        RabbitConsumerLoop.of(
                        Broker.factory(Integer.parseInt(args[1])),
                        LedgerHandlers.consumer(
                                RabbitMessages.consumer(LedgerHandlers.NAME, hapax),
                                RabbitMessage::messageId,
                                Mode.valueOf(args[3]),
                                pool))
                .queue(args[2])
                .deadLetters(DeadLetters.toQueue(args[2] + ".dead"))
                .start();
        new CountDownLatch(1).await();
    }
}
