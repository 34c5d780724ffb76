package dev.hapax.messaging.queues;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.postgres.PostgresStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * What a process of {@link Chaos} does: it consumes a queue until it is killed, and writes down what it observed, every
 * 50 ms, because it has no time to say it later.
 */
public final class LedgerWorker {
    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final String SAVE = """
            INSERT INTO observation (owner, redelivered, replayed, retried, leases_expired) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (owner) DO UPDATE SET redelivered = excluded.redelivered, replayed = excluded.replayed,
              retried = excluded.retried, leases_expired = excluded.leases_expired""";

    private LedgerWorker() {}

    /** Starts the loop of a broker. */
    public interface Consuming {
        AutoCloseable start(Hapax hapax, HikariDataSource pool, Observations observed);
    }

    /** Never returns. */
    public static void run(String jdbcUrl, String owner, Consuming consuming) throws SQLException {
        Observations observed = new Observations();
        HikariDataSource pool = TestDatabase.pool(TestDatabase.named(jdbcUrl, owner), 8);
        Hapax hapax = Hapax.on(PostgresStore.over(pool))
                .scope(Ledger.NAME, Policy.defaults().lease(LEASE).maxAttempts(1000))
                .owner(owner)
                .sweepEvery(Duration.ofSeconds(1))
                .listener(observed)
                .build();
        consuming.start(hapax, pool, observed);
        try (Connection connection = TestDatabase.pool(jdbcUrl, 1).getConnection();
                PreparedStatement save = connection.prepareStatement(SAVE)) {
            while (true) {
                save(save, owner, observed);
                LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
            }
        }
    }

    private static void save(PreparedStatement save, String owner, Observations observed) throws SQLException {
        List<AtomicInteger> counts =
                List.of(observed.redelivered, observed.replayed, observed.retried, observed.leasesExpired);
        save.setString(1, owner);
        for (int i = 0; i < counts.size(); i++) {
            save.setInt(i + 2, counts.get(i).get());
        }
        save.executeUpdate();
    }
}
