package dev.hapax.postgres.outbox;

import dev.hapax.outbox.Outgoing;
import dev.hapax.outbox.PublishResult;
import dev.hapax.postgres.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/** A relay in a process of its own, whose broker takes every message and whose answer never comes back. */
final class KilledRelay {
    static final Duration LEASE = Duration.ofSeconds(2);

    private KilledRelay() {}

    public static void main(String[] args) {
        DataSource dataSource = TestDatabase.unpooled(args[0]);
        OutboxRelay.over(dataSource, messages -> deliver(dataSource, messages))
                .lease(LEASE)
                .publishTimeout(Duration.ofMillis(500))
                .start();
        while (true) {
            LockSupport.park();
        }
    }

    private static List<CompletionStage<PublishResult>> deliver(DataSource broker, List<Outgoing> messages) {
        for (Outgoing message : messages) {
            TestDatabase.execute(
                    broker,
                    "INSERT INTO received (id) VALUES ('" + message.message().id() + "')");
        }
        System.out.println("published " + messages.size());
        while (true) {
            LockSupport.park(); // between the broker's answer and our commit
        }
    }
}
