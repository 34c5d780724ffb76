package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.ClaimTerms;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.Finish;
import dev.hapax.store.OperationKey;
import dev.hapax.store.Payload;
import dev.hapax.store.Result;
import dev.hapax.store.StoreException;
import dev.hapax.store.WhenAbandoned;
import dev.hapax.store.Written;
import dev.hapax.testkit.AtOnce;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.util.PSQLException;

class PostgresSchemaTest {
    private static final List<String> FILES = List.of("V001__operations.sql", "V002__outbox.sql");

    private static final ClaimTerms TERMS =
            new ClaimTerms(Duration.ofSeconds(30), Duration.ofHours(1), WhenAbandoned.RERUN, 3);

    private final TestDatabase database = TestDatabase.empty();

    @Test
    void migratesAnEmptyDatabase() {
        PostgresSchema.migrate(database.unpooled());

        assertThat(column("SELECT file FROM hapax_schema ORDER BY file")).isEqualTo(FILES);
        assertStoreWorks(database.unpooled());
    }

    @Test
    void migratingTwiceChangesNothing() {
        PostgresSchema.migrate(database.unpooled());
        String before = tableAndTimes();

        PostgresSchema.migrate(database.unpooled());

        assertThat(tableAndTimes()).isEqualTo(before);
    }

    @Test
    void manyInstancesMigrateAtOnce() throws Exception {
        AtOnce.call(16, () -> {
            PostgresSchema.migrate(database.unpooled());
            return true;
        });

        assertThat(database.queryLong("SELECT count(*) FROM hapax_schema")).isEqualTo(FILES.size());
        assertStoreWorks(database.unpooled());
    }

    /** The snapshot of a stricter level is taken before the lock is had: it must not hide what the first one did. */
    @ParameterizedTest
    @ValueSource(strings = {"TRANSACTION_READ_COMMITTED", "TRANSACTION_REPEATABLE_READ", "TRANSACTION_SERIALIZABLE"})
    void whoWaitedForTheMigrationOfAnotherFindsItDone(String isolation) throws Exception {
        int instances = 4;
        try (HikariDataSource pool = pool(instances, isolation, true);
                Connection inTheWay = database.unpooled().getConnection()) {
            inTheWay.setAutoCommit(false);
            execute(inTheWay, "CREATE TABLE hapax_schema ()");
            CompletableFuture<List<Boolean>> all = CompletableFuture.supplyAsync(() -> migrateAtOnce(instances, pool));
            awaitBlockedBackends(instances);
            inTheWay.rollback();

            assertThat(all.get(60, TimeUnit.SECONDS)).hasSize(instances);
        }
        assertThat(database.queryLong("SELECT count(*) FROM hapax_schema")).isEqualTo(FILES.size());
    }

    @Test
    void givesTheConnectionBackAsItWas() throws SQLException {
        for (boolean autoCommit : List.of(true, false)) {
            try (HikariDataSource pool = pool(1, "TRANSACTION_REPEATABLE_READ", autoCommit)) {
                PostgresSchema.migrate(pool);
                try (Connection connection = pool.getConnection()) {
                    assertThat(connection.getAutoCommit()).isEqualTo(autoCommit);
                    assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_REPEATABLE_READ);
                    assertThat(advisoryLocks()).isZero();
                }
            }
        }
    }

    @Test
    void aFailedMigrationLeavesNothingBehind() {
        database.execute("CREATE TABLE hapax_event (mine int)");

        assertThatExceptionOfType(StoreException.class)
                .isThrownBy(() -> PostgresSchema.migrate(database.unpooled()))
                .withMessageContaining("42P07");
        assertThat(database.query("SELECT to_regclass('hapax_operation')")).isNull();
        assertThat(database.query("SELECT to_regclass('hapax_schema')")).isNull();
        assertThat(advisoryLocks()).isZero();
    }

    @Test
    void theTablesGoWhereTheSearchPathPoints() {
        database.execute("CREATE SCHEMA app");
        DataSource inApp = TestDatabase.unpooled(database.jdbcUrl() + "&currentSchema=app");

        PostgresSchema.migrate(inApp);

        assertStoreWorks(inApp);
        assertThat(database.query("SELECT to_regclass('public.hapax_operation')"))
                .isNull();
        assertThat(database.queryLong("SELECT count(*) FROM app.hapax_operations"))
                .isOne();
    }

    @Test
    void twoSchemasOfOneDatabaseAreTwoStores() {
        database.execute("CREATE SCHEMA app");
        DataSource inApp = TestDatabase.unpooled(database.jdbcUrl() + "&currentSchema=app,public");
        PostgresSchema.migrate(database.unpooled());

        PostgresSchema.migrate(inApp);

        assertStoreWorks(inApp);
        assertThat(database.queryLong("SELECT count(*) FROM public.hapax_operation"))
                .isZero();
        assertThat(database.queryLong("SELECT count(*) FROM app.hapax_operation"))
                .isOne();
    }

    /** As Flyway would: nobody but the file itself has a say. */
    @Test
    void theFilesRunAsPlainSql() throws Exception {
        for (String file : FILES) {
            String resource = "/" + PostgresSchema.LOCATION + "/" + file;
            try (InputStream in = Objects.requireNonNull(PostgresSchema.class.getResourceAsStream(resource))) {
                database.execute(new String(in.readAllBytes(), StandardCharsets.UTF_8));
            }
        }

        assertStoreWorks(database.unpooled());
    }

    @Test
    void openTransactionOfTheCallerIsNotCommitted() throws SQLException {
        database.execute("CREATE TABLE orders (id int)");
        try (Connection callers = database.unpooled().getConnection()) {
            callers.setAutoCommit(false);
            execute(callers, "INSERT INTO orders VALUES (1)");

            assertThatExceptionOfType(StoreException.class)
                    .isThrownBy(() -> PostgresSchema.migrate(new OneConnection(callers)))
                    .withMessageContaining("open transaction");

            assertThat(callers.getAutoCommit()).isFalse();
            callers.rollback();
        }
        assertThat(database.queryLong("SELECT count(*) FROM orders")).isZero();
    }

    @Test
    void migrationThatMeetsAnErrorChangesNothing() throws SQLException {
        try (Connection connection = database.unpooled().getConnection()) {
            WatchedDataSource failing = new WatchedDataSource(new OneConnection(connection)) {
                private static final long serialVersionUID = 1L;

                @Override
                void beforeStatement() {
                    throw new OutOfMemoryError("for the test");
                }
            };

            assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> PostgresSchema.migrate(failing));

            assertThat(connection.getAutoCommit()).isTrue();
        }
        assertThat(column("SELECT tablename FROM pg_tables WHERE tablename LIKE 'hapax%'"))
                .isEmpty();
    }

    @Test
    void withoutTablesTheErrorSaysWhatToDo() {
        try (PostgresStore store = PostgresStore.over(database.unpooled())) {
            assertThatExceptionOfType(CompletionException.class)
                    .isThrownBy(() ->
                            store.claim(request("a")).toCompletableFuture().join())
                    .havingCause()
                    .isExactlyInstanceOf(StoreException.class)
                    .withMessageContaining("PostgresSchema.migrate");
            assertThatExceptionOfType(StoreException.class)
                    .isThrownBy(() -> store.inspector().timeline(request("a").id()))
                    .withMessageContaining("PostgresSchema.migrate");
        }
    }

    @Test
    void theViewShowsReadableStates() {
        PostgresSchema.migrate(database.unpooled());
        String[] states = {"PENDING", "PROCESSING", "COMPLETED", "FAILED", "IN_DOUBT"};
        for (int number = 0; number < states.length; number++) {
            insertRow(states[number], number, "interval '1 hour'");
        }
        insertRow("old result", 2, "interval '-1 second'");
        insertRow("old failure", 3, "interval '-1 second'");
        insertRow("old lease", 1, "interval '-1 second'");

        assertThat(column("SELECT key || ': ' || state FROM hapax_operations ORDER BY created_at"))
                .containsExactly(
                        "PENDING: PENDING",
                        "PROCESSING: PROCESSING",
                        "COMPLETED: COMPLETED",
                        "FAILED: FAILED",
                        "IN_DOUBT: IN_DOUBT",
                        "old result: EXPIRED",
                        "old failure: EXPIRED",
                        "old lease: PROCESSING");
        assertThat(column("SELECT DISTINCT when_abandoned || ' ' || retention FROM hapax_operations"))
                .containsExactly("PARK 01:00:00");
    }

    @Test
    void theViewShowsABodyAsJsonWhereItIsJson() {
        PostgresSchema.migrate(database.unpooled());
        for (String json : List.of(
                "{\"b\": 1, \"a\": 2, \"a\": 3}", "[1.10, 1e2]", "\"\\u0000\"", "null", "1e999999", "{\"ä\":\"€\"}")) {
            assertThat(bodyInView(json.getBytes(StandardCharsets.UTF_8))).isEqualTo(json);
        }
    }

    @Test
    void theViewShowsNoBodyWhereItIsNotJson() {
        PostgresSchema.migrate(database.unpooled());
        byte[] invalidUtf8 = {'"', (byte) 0xC3, '"'};
        byte[] nul = {'"', 0, '"'};
        byte[] deep = "[".repeat(200_000).getBytes(StandardCharsets.US_ASCII);
        byte[] text = "hello".getBytes(StandardCharsets.US_ASCII);
        for (byte[] body : List.of(invalidUtf8, nul, deep, text, new byte[0])) {
            assertThat(bodyInView(body)).isNull();
            assertThat(database.queryLong("SELECT max(body_bytes) FROM hapax_operations"))
                    .isEqualTo(body.length);
        }
    }

    /** Before PostgreSQL 18 an EXCEPTION block fails in a parallel scan: it would be a subtransaction. */
    @Test
    void theFunctionBehindTheViewIsNotRunInParallel() {
        PostgresSchema.migrate(database.unpooled());

        assertThat(database.query("SELECT proparallel FROM pg_proc WHERE proname = 'hapax_json'"))
                .isEqualTo("u");
    }

    /**
     * One primary key and one index on the deadline: an update that leaves the deadline's neighbours alone stays cheap,
     * and there is nothing whose condition would have to know the time.
     */
    @Test
    void theTableHasItsPrimaryKeyAndOneIndexOnTheDeadline() {
        PostgresSchema.migrate(database.unpooled());

        assertThat(column("""
                        SELECT regexp_replace(indexdef, '.* ON [a-z]+\\.', '') FROM pg_indexes
                        WHERE tablename = 'hapax_operation' ORDER BY indexname"""))
                .containsExactly("hapax_operation USING btree (deadline)", "hapax_operation USING btree (id)");
        assertThat(column("""
                        SELECT contype FROM pg_constraint
                        WHERE conrelid = 'hapax_operation'::regclass AND contype NOT IN ('c', 'n')""")).containsExactly("p");
    }

    /**
     * Trap 1, the first half: "unique among those not expired" cannot be an index. PostgreSQL wants an index to mean
     * the same tomorrow, so expiry is decided when a claim meets the row (see ClaimBatch), not by the schema.
     */
    @Test
    void aUniqueIndexThatDependsOnTheTimeIsRefusedByPostgres() {
        PostgresSchema.migrate(database.unpooled());

        assertSqlState(
                "CREATE UNIQUE INDEX live ON hapax_operation (tenant, scope, key) WHERE deadline > now()", "42P17");
    }

    /** Trap 1, the second half: an index is not a constraint, so our statements name the column instead. */
    @Test
    void anIndexCannotBeNamedAsTheConstraintOfAConflict() {
        database.execute("CREATE TABLE t (id int); CREATE UNIQUE INDEX t_id ON t (id)");

        assertSqlState("INSERT INTO t VALUES (1) ON CONFLICT ON CONSTRAINT t_id DO NOTHING", "42704");
        database.execute("INSERT INTO t VALUES (1) ON CONFLICT (id) DO NOTHING");
    }

    /** What a second file makes of a database that has the first one and rows in it. */
    @Test
    void aDatabaseOfTheFirstVersionIsBroughtUpToDate() {
        PostgresSchema.migrate(database.unpooled());
        assertStoreWorks(database.unpooled());
        database.execute("DROP VIEW hapax_outbox_messages; DROP TABLE hapax_outbox; "
                + "DELETE FROM hapax_schema WHERE file <> 'V001__operations.sql'");

        PostgresSchema.migrate(database.unpooled());

        assertThat(column("SELECT file FROM hapax_schema ORDER BY file")).isEqualTo(FILES);
        assertThat(database.queryLong("SELECT count(*) FROM hapax_operation")).isOne();
        assertThat(database.queryLong("SELECT count(*) FROM hapax_outbox")).isZero();
    }

    private String tableAndTimes() {
        return database.query("SELECT 'hapax_operation'::regclass::oid || ' ' || 'hapax_outbox'::regclass::oid || ' ' "
                + "|| string_agg(applied_at::text, ',' ORDER BY file) FROM hapax_schema");
    }

    private static void assertStoreWorks(DataSource dataSource) {
        try (PostgresStore store = PostgresStore.over(dataSource)) {
            ClaimRequest request = request("works");
            assertThat(store.claim(request).toCompletableFuture().join()).isEqualTo(new Claim.Won(1));
            Finish finish = new Finish(
                    request.id(), request.token(), Result.completed(Payload.of(new byte[1])), Duration.ofHours(1));
            assertThat(store.finish(finish).toCompletableFuture().join()).isEqualTo(Written.RECORDED);
        }
    }

    private static List<Boolean> migrateAtOnce(int instances, DataSource dataSource) {
        try {
            return AtOnce.call(instances, () -> {
                PostgresSchema.migrate(dataSource);
                return true;
            });
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private void awaitBlockedBackends(int count) {
        Awaitility.await().until(() -> database.queryLong("""
                SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock'""") == count);
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private void assertSqlState(String sql, String state) {
        assertThatThrownBy(() -> database.execute(sql))
                .cause()
                .isInstanceOfSatisfying(
                        PSQLException.class, e -> assertThat(e.getSQLState()).isEqualTo(state));
    }

    private static ClaimRequest request(String key) {
        return ClaimRequest.of(new OperationKey("", "schema", key), Fingerprint.NONE, "test", TERMS);
    }

    private void insertRow(String key, int state, String untilDeadline) {
        database.execute("""
                INSERT INTO hapax_operation (id, tenant, scope, key, state, fingerprint, token, attempt, owner,
                    when_abandoned, retention_ms, created_at, claimed_at, deadline)
                VALUES (gen_random_uuid(), '', 'schema', '%s', %d, '', gen_random_uuid(), 1, 'test',
                    2, 3600000, clock_timestamp(), clock_timestamp(), clock_timestamp() + %s)""".formatted(key, state, untilDeadline));
    }

    private String bodyInView(byte[] body) {
        database.execute("TRUNCATE hapax_operation");
        ClaimRequest request = request(UUID.randomUUID().toString());
        try (PostgresStore store = PostgresStore.over(database.unpooled())) {
            store.claim(request).toCompletableFuture().join();
            Finish finish =
                    new Finish(request.id(), request.token(), Result.completed(Payload.of(body)), Duration.ofHours(1));
            store.finish(finish).toCompletableFuture().join();
        }
        return database.query("SELECT body FROM hapax_operations");
    }

    private List<String> column(String sql) {
        List<String> values = new ArrayList<>();
        try (Connection connection = database.unpooled().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                values.add(rows.getString(1));
            }
            return values;
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    private long advisoryLocks() {
        return database.queryLong("""
                SELECT count(*) FROM pg_locks
                WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                """);
    }

    private HikariDataSource pool(int size, String isolation, boolean autoCommit) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.jdbcUrl());
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(0);
        config.setTransactionIsolation(isolation);
        config.setAutoCommit(autoCommit);
        return new HikariDataSource(config);
    }
}
