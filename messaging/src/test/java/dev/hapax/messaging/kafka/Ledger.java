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

/** The effects of handlers: a row for each; and beside them, committed at once, which handlers began. */
final class Ledger implements AutoCloseable {
    static final String ID = "message-id";

    private final HikariDataSource pool;
    private final PGSimpleDataSource unpooled = new PGSimpleDataSource();
    private Connection beginnings;

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

    /** The server that tests of a JVM share. Who kills it starts it again. */
    static EmbeddedPostgres server() {
        return Shared.POSTGRES;
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
        execute("CREATE TABLE begun (key text NOT NULL, position text NOT NULL, owner text NOT NULL,"
                + " at timestamptz NOT NULL DEFAULT clock_timestamp())");
    }

    /** Writes down that a handler begins, whatever becomes of it. */
    synchronized void begin(ConsumerRecord<byte[], byte[]> record, String owner) throws SQLException {
        if (beginnings == null) {
            beginnings = unpooled.getConnection();
        }
        try (PreparedStatement insert =
                beginnings.prepareStatement("INSERT INTO begun (key, position, owner) VALUES (?, ?, ?)")) {
            insert.setString(1, key(record));
            insert.setString(2, RejectedRecordException.position(record));
            insert.setString(3, owner);
            insert.executeUpdate();
        }
    }

    private static String key(ConsumerRecord<byte[], byte[]> record) {
        return new String(record.headers().lastHeader(ID).value(), StandardCharsets.UTF_8);
    }

    void write(Connection connection, ConsumerRecord<byte[], byte[]> record, Lease lease, String owner)
            throws SQLException {
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO ledger (key, attempt, owner) VALUES (?, ?, ?)")) {
            insert.setString(1, key(record));
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

    /** How many messages a consumer has begun, longer ago than most handlers take, and not completed. */
    long inHand(String owner) {
        return number("SELECT count(*) FROM begun WHERE owner = '" + owner + "'"
                + " AND at < clock_timestamp() - interval '50 ms' AND NOT EXISTS"
                + " (SELECT FROM hapax_operation o WHERE o.key = begun.key AND o.state = 2)");
    }

    /** How many records two consumers have begun. */
    long redelivered() {
        return number("SELECT count(*) FROM"
                + " (SELECT FROM begun GROUP BY position HAVING count(DISTINCT owner) > 1) AS redelivered");
    }

    /** How many messages began more than once. */
    long begunAgain() {
        return number("SELECT count(*) FROM (SELECT FROM begun GROUP BY key HAVING count(*) > 1) AS again");
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
    public synchronized void close() {
        pool.close();
        if (beginnings != null) {
            try {
                beginnings.close();
            } catch (SQLException gone) {
                // with its server
            }
        }
    }
}
