package dev.hapax.messaging.queues;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.embedded.postgres.EmbeddedPostgres;
import dev.hapax.postgres.PostgresStore;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.awaitility.Awaitility;

/** A PostgreSQL of its own that is killed and started again, and a Hapax on it. */
public final class Outage implements AutoCloseable {
    private final EmbeddedPostgres server = EmbeddedPostgres.start();
    private final TestDatabase database = TestDatabase.on(server);
    private final HikariDataSource pool = database.pool(8);
    private final Observations observed = new Observations();
    private final Hapax hapax = Hapax.on(PostgresStore.over(pool))
            .scope(Ledger.NAME, Policy.defaults().lease(Duration.ofSeconds(3)).maxAttempts(1000))
            .sweepEvery(Duration.ofSeconds(1))
            .listener(observed)
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

    /** Kills the database while handlers wait at the gate, and starts it again when calls were refused. */
    public void strike(FaultGate gate) {
        int before = observed.refused.get();
        strike(gate, () -> observed.refused.get() > before);
    }

    /** @param noticed whether the database was missed, so that it may come back */
    public void strike(FaultGate gate, BooleanSupplier noticed) {
        gate.awaitHeld();
        server.kill();
        gate.open();
        Awaitility.await().until(noticed::getAsBoolean);
        server.restart();
    }

    public Observations observed() {
        return observed;
    }

    @Override
    public void close() {
        hapax.close();
        pool.close();
        server.close();
    }
}
