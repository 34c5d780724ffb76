package dev.hapax.messaging.queues;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.embedded.postgres.EmbeddedPostgres;
import dev.hapax.postgres.PostgresSchema;
import dev.hapax.testkit.fault.FaultProxy;
import java.io.IOException;
import java.net.URI;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.postgresql.ds.PGSimpleDataSource;

/** A database with Hapax's tables and a ledger: a row per effect. */
public final class TestDatabase {
    static {
        Awaitility.setDefaultTimeout(Duration.ofMinutes(1)); // the machine may be busy
    }

    private final String url;

    private TestDatabase(String url) {
        this.url = url;
    }

    /** On the one server that all tests of a JVM share. */
    public static TestDatabase create() {
        return created(Shared.SERVER, " TEMPLATE " + Shared.TEMPLATE);
    }

    public static TestDatabase on(EmbeddedPostgres server) {
        TestDatabase database = created(server, "");
        database.createTables();
        return database;
    }

    private static TestDatabase created(EmbeddedPostgres server, String template) {
        String name = "t" + UUID.randomUUID().toString().replace("-", "");
        new TestDatabase(server.jdbcUrl()).execute("CREATE DATABASE " + name + template);
        return new TestDatabase(server.jdbcUrl(name));
    }

    private void createTables() {
        PostgresSchema.migrate(unpooled());
        execute("CREATE TABLE ledger (key text NOT NULL, attempt int NOT NULL, at bigserial)");
        execute("CREATE TABLE delivery (position text PRIMARY KEY, owner text NOT NULL)");
        execute("""
                CREATE TABLE observation (owner text PRIMARY KEY,
                  redelivered int NOT NULL, replayed int NOT NULL, retried int NOT NULL, leases_expired int NOT NULL)""");
    }

    /** It need not survive a crash of the machine, so it does not wait for the disk. */
    private static final class Shared {
        static final EmbeddedPostgres SERVER = EmbeddedPostgres.builder()
                .setting("max_connections", "200")
                .setting("shared_preload_libraries", "pg_stat_statements")
                .setting("fsync", "off")
                .start();

        /** Nothing may ever be connected to it: copies are made of it. */
        static final String TEMPLATE = on(SERVER).name();
    }

    private String name() {
        return URI.create(url.substring("jdbc:".length())).getPath().substring(1);
    }

    public String jdbcUrl() {
        return url;
    }

    /** A proxy in front of its server. */
    public FaultProxy proxy() throws IOException {
        URI server = URI.create(url.substring("jdbc:".length()));
        return FaultProxy.to(server.getHost(), server.getPort());
    }

    /** The same database, reached by another port. */
    public String jdbcUrl(int port) {
        int server = URI.create(url.substring("jdbc:".length())).getPort();
        return url.replace(":" + server + "/", ":" + port + "/");
    }

    /** A URL whose sessions the database knows by this name. */
    static String named(String url, String name) {
        return url + (url.contains("?") ? "&" : "?") + "ApplicationName=" + name;
    }

    private DataSource unpooled() {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(url);
        return dataSource;
    }

    public HikariDataSource pool(int size) {
        return pool(url, size);
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

    public void execute(String sql) {
        try (Connection connection = unpooled().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    public long queryLong(String sql) {
        try (Connection connection = unpooled().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    public long effects() {
        return queryLong("SELECT count(*) FROM ledger");
    }

    public long keysWithEffects() {
        return queryLong("SELECT count(DISTINCT key) FROM ledger");
    }

    /** Attempts that had their effect more than once; zero if everything is well. */
    public long attemptsWithTwoEffects() {
        return queryLong(
                "SELECT count(*) FROM (SELECT FROM ledger GROUP BY key, attempt HAVING count(*) > 1) AS twice");
    }

    /** How many operations are stored as completed. */
    public long completed() {
        return queryLong("SELECT count(*) FROM hapax_operation WHERE state = 2");
    }

    /** How many messages a consumer process works on: under a lease, or in an open transaction. */
    public long inHand(String owner) {
        return queryLong("""
                SELECT (SELECT count(*) FROM hapax_operation WHERE state = 1 AND owner = '%1$s')
                  + (SELECT count(*) FROM pg_stat_activity
                     WHERE application_name = '%1$s' AND state = 'idle in transaction')""".formatted(owner));
    }

    /** The sum of a column over what all consumer processes observed. */
    public long observed(String column) {
        return queryLong("SELECT coalesce(sum(%s), 0)::bigint FROM observation".formatted(column));
    }

    /** How many statements this database was sent so far, those that ask this included. */
    public long statements() {
        execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
        return queryLong("""
                SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements
                WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())""");
    }
}
