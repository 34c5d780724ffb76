package dev.hapax.postgres;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.embedded.postgres.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * One PostgreSQL for all tests of a JVM, and a database of its own for each test that asks. It need not survive a
 * crash, so it does not wait for the disk.
 */
public final class TestDatabase {
    private static final EmbeddedPostgres SERVER = EmbeddedPostgres.builder()
            .setting("max_connections", "200")
            .setting("shared_preload_libraries", "pg_stat_statements")
            .setting("fsync", "off")
            .start();

    static {
        Awaitility.setDefaultTimeout(Duration.ofMinutes(1)); // the machine may be busy
    }

    private final String name;

    private TestDatabase(String name) {
        this.name = name;
    }

    /** A database without any tables. */
    public static TestDatabase empty() {
        return create("");
    }

    /** A database with Hapax's tables. */
    public static TestDatabase migrated() {
        return create("TEMPLATE " + Migrated.TEMPLATE.name);
    }

    private static TestDatabase create(String options) {
        String name = "t" + UUID.randomUUID().toString().replace("-", "");
        execute(unpooled(SERVER.jdbcUrl()), "CREATE DATABASE %s %s".formatted(name, options));
        return new TestDatabase(name);
    }

    /** Migrated once: copies are made of it, so nothing may ever be connected to it. */
    private static final class Migrated {
        static final TestDatabase TEMPLATE = empty();

        static {
            PostgresSchema.migrate(TEMPLATE.unpooled());
        }
    }

    public String jdbcUrl() {
        return SERVER.jdbcUrl(name);
    }

    public int port() {
        return SERVER.port();
    }

    public DataSource unpooled() {
        return unpooled(jdbcUrl());
    }

    public static DataSource unpooled(String url) {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(url);
        return dataSource;
    }

    public HikariDataSource pool(int size) {
        return pool(jdbcUrl(), size);
    }

    public static HikariDataSource pool(String url, int size) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(2_000);
        config.setInitializationFailTimeout(-1);
        return new HikariDataSource(config);
    }

    public void letTimePass(Duration duration) {
        letTimePass(unpooled(), duration);
    }

    /** Moves every time in the tables back, which is the same as letting time pass. */
    public static void letTimePass(DataSource dataSource, Duration duration) {
        execute(dataSource, """
                UPDATE hapax_operation
                SET created_at = created_at - d, claimed_at = claimed_at - d, finished_at = finished_at - d,
                    deadline = deadline - d
                FROM (SELECT %d * interval '1 millisecond' AS d) AS passed""".formatted(duration.toMillis()));
    }

    public void execute(String sql) {
        execute(unpooled(), sql);
    }

    public static void execute(DataSource dataSource, String sql) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    public long queryLong(String sql) {
        return Long.parseLong(query(sql));
    }

    public String query(String sql) {
        try (Connection connection = unpooled().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }
}
