package dev.hapax.postgres;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.store.Store;
import dev.hapax.testkit.StoreContract;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;

/** The contract, kept by a store that has answered only replays lately, and so reads before it inserts. */
class ReadBeforeInsertContractTest extends StoreContract {
    private static final TestDatabase DATABASE = TestDatabase.migrated();
    private static final HikariDataSource POOL = DATABASE.pool(8);
    private static final PostgresStore STORE = PostgresStore.over(POOL);

    @BeforeEach
    void emptyAfterManyRepeats() {
        try (Hapax hapax = Hapax.on(STORE)
                .scope("repeats", Policy.defaults())
                .withoutSweeper()
                .build()) {
            for (int i = 0; i < 20; i++) {
                hapax.scope("repeats").key("again").run(lease -> new byte[0]);
            }
        }
        DATABASE.execute("TRUNCATE hapax_operation, hapax_event");
    }

    @Override
    protected Store store() {
        return STORE;
    }

    @Override
    protected void letTimePass(Duration duration) {
        DATABASE.letTimePass(duration);
    }

    @AfterAll
    static void close() {
        STORE.close();
        POOL.close();
    }
}
