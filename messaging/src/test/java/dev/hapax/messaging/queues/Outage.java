package dev.hapax.messaging.queues;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Hapax;
import dev.hapax.HapaxListener;
import dev.hapax.Policy;
import dev.hapax.embedded.postgres.EmbeddedPostgres;
import dev.hapax.postgres.PostgresStore;
import dev.hapax.store.OperationKey;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;

/** A PostgreSQL of its own that is killed and started again, and a Hapax on it. */
public final class Outage implements AutoCloseable {
    private final EmbeddedPostgres server = EmbeddedPostgres.start();
    private final TestDatabase database = TestDatabase.on(server);
    private final HikariDataSource pool = database.pool(8);
    private final AtomicInteger refused = new AtomicInteger();
    private final Hapax hapax = Hapax.on(PostgresStore.over(pool))
            .scope(
                    LedgerHandlers.NAME,
                    Policy.defaults().lease(Duration.ofSeconds(3)).maxAttempts(1000))
            .sweepEvery(Duration.ofSeconds(1))
            .listener(new HapaxListener() {
                @Override
                public void refused(OperationKey key, Throwable cause) {
                    refused.incrementAndGet();
                }
            })
            .build();

    public Hapax hapax() {
        return hapax;
    }

    public HikariDataSource pool() {
        return pool;
    }

    public TestDatabase database() {
        return database;
    }

    /** Kills the database once so many effects are there, and starts it again when calls were refused. */
    public void after(int effects) {
        Awaitility.await()
                .atMost(Duration.ofMinutes(1))
                .pollInterval(Duration.ofMillis(20))
                .until(() -> database.effects() >= effects);
        int before = refused.get();
        server.kill();
        Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> refused.get() > before);
        server.restart();
    }

    /** How many calls were refused because the database could not be reached. */
    public int refused() {
        return refused.get();
    }

    @Override
    public void close() {
        hapax.close();
        pool.close();
        server.close();
    }
}
