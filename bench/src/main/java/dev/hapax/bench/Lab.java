package dev.hapax.bench;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.bench.peers.Payload;
import dev.hapax.embedded.postgres.EmbeddedPostgres;
import dev.hapax.postgres.PostgresSchema;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * The database that everything is measured on: a real PostgreSQL, as durable as in production, with the tables of both
 * sides in it. Each side has a copy of the same table with the same rows, so neither starts with the better plan.
 */
final class Lab implements AutoCloseable {
    /** Where the tables are that were filled and analysed before anything is measured. */
    static final String WARM = "public";

    private static final int ROWS = 20_000;

    private static final String FLOOR = """
            DO $$
            BEGIN
                CREATE TABLE floor_operation (LIKE hapax_operation INCLUDING ALL);
                EXECUTE (SELECT format('ALTER TABLE floor_operation SET (%s)', array_to_string(reloptions, ', '))
                         FROM pg_class WHERE oid = 'hapax_operation'::regclass);
            END
            $$""";

    private static final String FILL = """
            INSERT INTO %s (id, tenant, scope, key, state, fingerprint, token, attempt, owner, when_abandoned,
                retention_ms, created_at, claimed_at, finished_at, deadline, code, headers, body)
            SELECT gen_random_uuid(), '', 'bench', 'filled-' || n, 2, decode('%s', 'hex'),
                '00000000-0000-0000-0000-000000000000', 1, 'bench', 0, 86400000, now(), now(), now(),
                clock_timestamp() + interval '1 day', 0, '', decode('%s', 'hex')
            FROM generate_series(1, %d) n""";

    /**
     * What most results are like; and what those are like of which there are millions, so that filling ends in time.
     */
    private static final int BODY = 300;

    private static final int SMALL_BODY = 30;

    private static final String BUSINESS = """
            CREATE TABLE bench_order (
                id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                buyer  text   NOT NULL,
                amount bigint NOT NULL
            )""";

    private final EmbeddedPostgres server;
    private final Map<String, Integer> grown = new HashMap<>();

    private Lab(EmbeddedPostgres server) {
        this.server = server;
    }

    static Lab open() throws SQLException {
        Lab lab = new Lab(EmbeddedPostgres.builder()
                .setting("fsync", "on")
                .setting("synchronous_commit", "on")
                .setting("full_page_writes", "on")
                .setting("max_connections", "500")
                .setting("autovacuum_naptime", "10s")
                .start());
        try {
            lab.createTables();
            return lab;
        } catch (SQLException | RuntimeException e) {
            lab.close();
            throw e;
        }
    }

    private void createTables() throws SQLException {
        try (HikariDataSource pool = pool(1, WARM)) {
            PostgresSchema.migrate(pool);
            execute(pool, FLOOR, BUSINESS);
            for (String table : List.of("hapax_operation", "floor_operation")) {
                execute(pool, fill(table, BODY, ROWS), "VACUUM ANALYZE " + table);
            }
        }
    }

    /** A pool of exactly so many connections, all of them open, with the driver's and the pool's own defaults. */
    HikariDataSource pool(int size, String schema) throws SQLException {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(server.jdbcUrl() + "&currentSchema=" + schema);
        config.setMaximumPoolSize(size);
        HikariDataSource pool = new HikariDataSource(config);
        List<Connection> all = new ArrayList<>();
        try {
            for (int i = 0; i < size; i++) {
                all.add(pool.getConnection());
            }
            return pool;
        } finally {
            for (Connection connection : all) {
                connection.close();
            }
        }
    }

    /** An empty, freshly migrated schema, analysed while it is empty: what every new deployment looks like. */
    void createAnalysedEmpty(String schema) throws SQLException {
        try (HikariDataSource pool = pool(1, schema)) {
            execute(pool, "CREATE SCHEMA " + schema);
            PostgresSchema.migrate(pool);
            execute(pool, "ANALYZE hapax_operation", "VACUUM ANALYZE hapax_operation");
        }
    }

    void drop(String schema) throws SQLException {
        try (HikariDataSource pool = pool(1, WARM)) {
            execute(pool, "DROP SCHEMA " + schema + " CASCADE");
        }
    }

    String jdbcUrl() {
        return server.jdbcUrl();
    }

    /** How many rows the table in a schema was made to have. */
    int grown(String schema) {
        return grown.getOrDefault(schema, 0);
    }

    /** Makes a table have so many rows more: the indexes are built at the end, which is many times faster. */
    void grow(String schema, int rows) throws SQLException {
        try (HikariDataSource pool = pool(1, schema)) {
            if (grown(schema) == 0) {
                execute(pool, "CREATE SCHEMA " + schema);
                PostgresSchema.migrate(pool);
            }
            execute(
                    pool,
                    "ALTER TABLE hapax_operation DROP CONSTRAINT hapax_operation_pkey",
                    "DROP INDEX hapax_operation_deadline");
            fill(schema, rows);
            execute(
                    pool,
                    "SET maintenance_work_mem = '512MB'",
                    "ALTER TABLE hapax_operation ADD CONSTRAINT hapax_operation_pkey PRIMARY KEY (id)",
                    "CREATE INDEX hapax_operation_deadline ON hapax_operation (deadline)",
                    "VACUUM ANALYZE hapax_operation",
                    "CHECKPOINT");
        }
        grown.merge(schema, rows, Integer::sum);
    }

    private static String fill(String table, int bodyBytes, int rows) {
        return FILL.formatted(table, Payload.hex(32), Payload.hex(bodyBytes), rows);
    }

    /** Half of them over each of two connections: a lone one has a processor idle. */
    private void fill(String schema, int rows) throws SQLException {
        try (HikariDataSource pool = pool(2, schema)) {
            String half = fill("hapax_operation", SMALL_BODY, rows / 2);
            CompletableFuture<Void> other = CompletableFuture.runAsync(() -> {
                try {
                    execute(pool, half);
                } catch (SQLException e) {
                    throw new CompletionException(e);
                }
            });
            execute(pool, half);
            other.join();
        }
    }

    /** Adds rows whose retention is over. */
    void insertExpired(String schema, int rows) throws SQLException {
        try (HikariDataSource pool = pool(1, schema)) {
            execute(pool, fill("hapax_operation", BODY, rows).replace("+ interval '1 day'", "- interval '1 day'"));
        }
    }

    /** Adds rows that are in doubt. */
    void insertParked(String schema, int rows) throws SQLException {
        try (HikariDataSource pool = pool(1, schema)) {
            execute(
                    pool,
                    fill("hapax_operation", BODY, rows)
                            .replace("'filled-' || n, 2,", "'parked-' || n, 4,")
                            .replace("clock_timestamp() + interval '1 day'", "'infinity'"));
        }
    }

    /** @return how many nanoseconds one DELETE of so many expired rows takes, by ids that are known before */
    long deleteExpired(String schema, int rows) throws SQLException {
        try (HikariDataSource pool = pool(1, schema);
                Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TEMPORARY TABLE doomed ON COMMIT PRESERVE ROWS AS SELECT id FROM hapax_operation"
                    + " WHERE deadline < now() ORDER BY deadline LIMIT " + rows);
            statement.execute("ANALYZE doomed");
            long began = System.nanoTime();
            int deleted = statement.executeUpdate(
                    "DELETE FROM hapax_operation WHERE id = ANY (ARRAY(SELECT id FROM doomed))");
            long took = System.nanoTime() - began;
            statement.execute("DROP TABLE doomed");
            if (deleted != rows) {
                throw new IllegalStateException("expected to delete " + rows + ", but it was " + deleted);
            }
            return took;
        }
    }

    /** Bytes of the table and its indexes. */
    long size(String schema) throws SQLException {
        return number("SELECT pg_total_relation_size('" + schema + ".hapax_operation')");
    }

    String tuples(String schema) throws SQLException {
        long dead = number(
                "SELECT n_dead_tup FROM pg_stat_user_tables WHERE relid = '" + schema + ".hapax_operation'::regclass");
        long live = number("SELECT count(*) FROM " + schema + ".hapax_operation");
        return "%,d rows and %,d dead tuples".formatted(live, dead);
    }

    private long number(String sql) throws SQLException {
        try (HikariDataSource pool = pool(1, WARM);
                Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    /** The id that the next transaction with a write gets: what it grows by is how many there were meanwhile. */
    long nextTransactionId() throws SQLException {
        return number("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint");
    }

    /** The server's version and the settings that durability and speed depend on. */
    String describe() throws SQLException {
        try (HikariDataSource pool = pool(1, WARM);
                Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("""
                        SELECT 'PostgreSQL ' || current_setting('server_version') || ' with '
                            || string_agg(name || '=' || current_setting(name), ', ' ORDER BY name)
                        FROM pg_settings
                        WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers',
                            'wal_sync_method', 'max_wal_size', 'autovacuum_naptime')""")) {
            row.next();
            return row.getString(1);
        }
    }

    static void execute(HikariDataSource pool, String... statements) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    @Override
    public void close() {
        server.close();
    }
}
