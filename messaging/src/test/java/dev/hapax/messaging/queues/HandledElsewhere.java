package dev.hapax.messaging.queues;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Hapax;
import dev.hapax.HapaxListener;
import dev.hapax.Policy;
import dev.hapax.postgres.PostgresStore;
import dev.hapax.store.OperationKey;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;

/** An operation that another process, as the store sees it, works on until it is told to finish. */
public final class HandledElsewhere implements AutoCloseable {
    private static final Policy POLICY = Policy.defaults().lease(Duration.ofSeconds(30));

    private final TestDatabase database = TestDatabase.create();
    private final HikariDataSource pool = database.pool(4);
    private final AtomicInteger inProgress = new AtomicInteger();
    private final AtomicInteger replays = new AtomicInteger();
    private final CountDownLatch finish = new CountDownLatch(1);
    private final Hapax other = Hapax.on(PostgresStore.over(pool))
            .scope(LedgerHandlers.NAME, POLICY)
            .withoutSweeper()
            .build();
    private final Hapax mine = Hapax.on(PostgresStore.over(pool))
            .scope(LedgerHandlers.NAME, POLICY)
            .withoutSweeper()
            .listener(new HapaxListener() {
                @Override
                public void inProgress(OperationKey key) {
                    inProgress.incrementAndGet();
                }

                @Override
                public void replayed(OperationKey key) {
                    replays.incrementAndGet();
                }
            })
            .build();

    public HandledElsewhere(String key, String body) throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        Thread thread = new Thread(() -> other.scope(LedgerHandlers.NAME)
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

    /** How many statements the database gets within this time, from when the consumer first met the operation. */
    public long statementsWithin(Duration time) {
        Awaitility.await().until(() -> inProgress.get() > 0);
        long before = database.statements();
        long until = System.nanoTime() + time.toNanos();
        Awaitility.await().atMost(time.plusSeconds(10)).until(() -> until - System.nanoTime() <= 0);
        return database.statements() - before;
    }

    /** How often the consumer was told that somebody else is at it. */
    public int meetings() {
        return inProgress.get();
    }

    /** How often the consumer got the stored end. */
    public int replays() {
        return replays.get();
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
