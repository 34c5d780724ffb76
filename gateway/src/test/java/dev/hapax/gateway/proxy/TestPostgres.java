package dev.hapax.gateway.proxy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.embedded.postgres.EmbeddedPostgres;
import dev.hapax.postgres.PostgresSchema;
import dev.hapax.postgres.PostgresStore;
import dev.hapax.store.Store;
import javax.sql.DataSource;

/** One PostgreSQL for all tests of a JVM. */
final class TestPostgres {
    private static final EmbeddedPostgres SERVER =
            EmbeddedPostgres.builder().setting("fsync", "off").start();
    private static final DataSource POOL = pool();

    private TestPostgres() {}

    static Store store() {
        return PostgresStore.over(POOL);
    }

    private static DataSource pool() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(SERVER.jdbcUrl());
        config.setMaximumPoolSize(16);
        HikariDataSource pool = new HikariDataSource(config);
        PostgresSchema.migrate(pool);
        return pool;
    }
}
