package dev.hapax.messaging.kafka;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Lease;
import dev.hapax.embedded.postgres.EmbeddedPostgres;
import dev.hapax.postgres.PostgresSchema;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.postgresql.ds.PGSimpleDataSource;

/** The effects of handlers: a row for each. */
final class Ledger implements AutoCloseable {
    static final String ID = "message-id";

    private final HikariDataSource pool;
    private final PGSimpleDataSource unpooled = new PGSimpleDataSource();

    private Ledger(HikariDataSource pool) {
        this.pool = pool;
        unpooled.setUrl(pool.getJdbcUrl());
    }

    static Ledger at(String jdbcUrl) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(jdbcUrl);
        config.setMaximumPoolSize(12);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(5_000);
        config.setInitializationFailTimeout(-1);
        return new Ledger(new HikariDataSource(config));
    }

    /** In a new database, with all tables, on the one server that tests of a JVM share. */
    static Ledger shared() {
        String name = "t" + UUID.randomUUID().toString().replace("-", "");
        try (Ledger root = at(Shared.POSTGRES.jdbcUrl())) {
            root.execute("CREATE DATABASE " + name);
        }
        Ledger ledger = at(Shared.POSTGRES.jdbcUrl(name));
        ledger.migrate();
        ledger.create();
        return ledger;
    }

    private static final class Shared {
        static final EmbeddedPostgres POSTGRES = EmbeddedPostgres.builder()
                .setting("max_connections", "200")
                .setting("shared_preload_libraries", "pg_stat_statements")
                .start();
    }

    String jdbcUrl() {
        return pool.getJdbcUrl();
    }

    HikariDataSource pool() {
        return pool;
    }

    void migrate() {
        PostgresSchema.migrate(unpooled);
    }

    void create() {
        execute("CREATE TABLE ledger (key text NOT NULL, attempt int NOT NULL, owner text NOT NULL)");
    }

    void write(Connection connection, ConsumerRecord<byte[], byte[]> record, Lease lease, String owner)
            throws SQLException {
        String key = new String(record.headers().lastHeader(ID).value(), StandardCharsets.UTF_8);
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO ledger (key, attempt, owner) VALUES (?, ?, ?)")) {
            insert.setString(1, key);
            insert.setInt(2, lease.attempt());
            insert.setString(3, owner);
            insert.executeUpdate();
        }
    }

    void write(ConsumerRecord<byte[], byte[]> record, Lease lease, String owner) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            write(connection, record, lease, owner);
        }
    }

    long rows() {
        return number("SELECT count(*) FROM ledger");
    }

    long keys() {
        return number("SELECT count(DISTINCT key) FROM ledger");
    }

    long attemptsTwice() {
        return number("SELECT count(*) FROM (SELECT FROM ledger GROUP BY key, attempt HAVING count(*) > 1) AS twice");
    }

    /** What is stored as completed. */
    long completed() {
        return number("SELECT count(*) FROM hapax_operation WHERE state = 2");
    }

    long number(String sql) {
        try (Connection connection = unpooled.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    void execute(String sql) {
        try (Connection connection = unpooled.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    @Override
    public void close() {
        pool.close();
    }
}
