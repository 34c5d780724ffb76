package dev.hapax.postgres;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.store.Store;
import dev.hapax.testkit.StoreContract;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;

class PostgresStoreContractTest extends StoreContract {
    private static final TestDatabase DATABASE = TestDatabase.migrated();
    private static final HikariDataSource POOL = DATABASE.pool(8);
    private static final PostgresStore STORE = PostgresStore.over(POOL);

    @BeforeEach
    void empty() {
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
