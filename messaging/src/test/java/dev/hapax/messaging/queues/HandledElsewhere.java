package dev.hapax.messaging.queues;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.postgres.PostgresStore;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;

/** An operation that another process, as the store sees it, works on until it is told to finish. */
public final class HandledElsewhere implements AutoCloseable {
    private static final int MEETINGS = 3;

    private static final Policy POLICY = Policy.defaults().lease(Duration.ofSeconds(30));

    private final TestDatabase database = TestDatabase.create();
    private final HikariDataSource pool = database.pool(4);
    private final Observations observed = new Observations();
    private final CountDownLatch finish = new CountDownLatch(1);
    private final Hapax other = Hapax.on(PostgresStore.over(pool))
            .scope(Ledger.NAME, POLICY)
            .withoutSweeper()
            .build();
    private final Hapax mine = Hapax.on(PostgresStore.over(pool))
            .scope(Ledger.NAME, POLICY)
            .withoutSweeper()
            .listener(observed)
            .build();

    public HandledElsewhere(String key, String body) throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        Thread thread = new Thread(() -> other.scope(Ledger.NAME)
                .key(key)
                .fingerprint(body.getBytes(StandardCharsets.UTF_8))
                .run(lease -> {
                    begun.countDown();
                    awaitFinish();
                    return new byte[0];
                }));
        thread.setDaemon(true);
        thread.start();
        begun.await();
    }

    private void awaitFinish() {
        try {
            finish.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** For the consumer that is tested. */
    public Hapax hapax() {
        return mine;
    }

    /** How many statements the database gets for each time that the consumer meets the operation, on average. */
    public long statementsPerMeeting() {
        Awaitility.await().until(() -> observed.inProgress.get() > 0);
        long before = database.statements();
        int met = observed.inProgress.get();
        Awaitility.await().until(() -> observed.inProgress.get() >= met + MEETINGS);
        int meetings = observed.inProgress.get() - met;
        return (database.statements() - before) / meetings;
    }

    /** What the tested consumer was told. */
    public Observations observed() {
        return observed;
    }

    public void finish() {
        finish.countDown();
    }

    @Override
    public void close() {
        finish();
        mine.close();
        other.close();
        pool.close();
    }
}
