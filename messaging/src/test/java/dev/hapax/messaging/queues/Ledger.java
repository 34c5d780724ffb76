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

/**
 * Consumers whose effect is a row in the table {@code ledger} of a {@link TestDatabase}. Handlers take a moment, so
 * that a process that is killed has messages in hand; every fiftieth key fails the first time.
 */
public final class Ledger {
    public static final String NAME = "ledger";
    private static final int FAILS_FIRST = 50;

    private Ledger() {}

    public enum Mode {
        LEASED,
        TRANSACTIONAL
    }

    /** @param key of a message, ending with a number */
    public static <M> IdempotentConsumer<M> consumer(
            IdempotentConsumer.Builder<M> builder, Function<M, String> key, Mode mode, HikariDataSource pool) {
        return consumer(builder, key, mode, pool, new FaultGate(Integer.MAX_VALUE));
    }

    /** With handlers that wait at a gate after their effect. */
    public static <M> IdempotentConsumer<M> consumer(
            IdempotentConsumer.Builder<M> builder,
            Function<M, String> key,
            Mode mode,
            HikariDataSource pool,
            FaultGate gate) {
        builder.backoff(new Backoff(Duration.ofMillis(100), Duration.ofSeconds(1)));
        return mode == Mode.LEASED
                ? builder.handling((message, lease) -> {
                    try (Connection connection = pool.getConnection()) {
                        write(connection, key.apply(message), lease);
                    }
                    work(key.apply(message), lease, gate);
                })
                : builder.handlingWithin(PostgresTransactions.over(pool), (message, connection, lease) -> {
                    write(connection, key.apply(message), lease);
                    work(key.apply(message), lease, gate);
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

    private static void work(String key, Lease lease, FaultGate gate) {
        int number = Integer.parseInt(key.replaceAll("\\D", ""));
        gate.pass(number);
        if (lease.attempt() == 1 && number % FAILS_FIRST == 0) {
            throw new IllegalStateException("did not work this time");
        }
        int millis = ThreadLocalRandom.current().nextInt(20, 60);
        LockSupport.parkNanos(Duration.ofMillis(millis).toNanos());
    }
}
