package dev.hapax.messaging.queues;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Lease;
import dev.hapax.messaging.Backoff;
import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.postgres.PostgresTransactions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/** Handlers whose effect is a row in the ledger. Some take a moment, some fail. */
public final class LedgerHandlers {
    public static final String NAME = "ledger";

    private LedgerHandlers() {}

    public enum Mode {
        LEASED,
        TRANSACTIONAL
    }

    public static <M> IdempotentConsumer<M> consumer(
            IdempotentConsumer.Builder<M> builder, Function<M, String> key, Mode mode, HikariDataSource pool) {
        builder.backoff(new Backoff(Duration.ofMillis(100), Duration.ofSeconds(1)));
        return mode == Mode.LEASED
                ? builder.handling((message, lease) -> {
                    try (Connection connection = pool.getConnection()) {
                        write(connection, key.apply(message), lease);
                    }
                    work();
                })
                : builder.handlingWithin(PostgresTransactions.over(pool), (message, connection, lease) -> {
                    write(connection, key.apply(message), lease);
                    work();
                });
    }

    private static void write(Connection connection, String key, Lease lease) throws SQLException {
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO ledger (key, attempt) VALUES (?, ?)")) {
            insert.setString(1, key);
            insert.setInt(2, lease.attempt());
            insert.executeUpdate();
        }
    }

    private static void work() {
        int chance = ThreadLocalRandom.current().nextInt(1000);
        if (chance == 0) {
            throw new IllegalStateException("did not work this time");
        }
        if (chance < 100) {
            LockSupport.parkNanos(Duration.ofMillis(chance).toNanos());
        }
    }
}
