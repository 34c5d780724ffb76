package dev.hapax.messaging;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.TerminalFailure;
import dev.hapax.embedded.postgres.EmbeddedPostgres;
import dev.hapax.messaging.Disposition.Ack;
import dev.hapax.messaging.Disposition.Reject;
import dev.hapax.messaging.Disposition.RetryLater;
import dev.hapax.postgres.PostgresSchema;
import dev.hapax.postgres.PostgresStore;
import dev.hapax.postgres.PostgresTransactions;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Handlers whose writes commit with their record, on a real PostgreSQL. */
@Timeout(60)
class TransactionalConsumerTest {
    private static EmbeddedPostgres postgres;
    private static HikariDataSource pool;

    private final Hapax hapax = Hapax.on(PostgresStore.over(pool))
            .scope("orders", Policy.defaults().maxAttempts(3))
            .scope("payouts", Policy.payment().maxAttempts(3))
            .withoutSweeper()
            .build();
    private Exception failure;

    private final IdempotentConsumer<String> consumer = consumer("orders");

    private IdempotentConsumer<String> consumer(String name) {
        return IdempotentConsumer.<String>named(name, hapax)
                .key(message -> message)
                .payload(message -> message.getBytes(StandardCharsets.UTF_8))
                .backoff(new Backoff(Duration.ofMillis(100), Duration.ofSeconds(10)))
                .handlingWithin(PostgresTransactions.over(pool), (message, connection, lease) -> {
                    execute(connection, "INSERT INTO effect VALUES ('" + message + "', " + lease.attempt() + ")");
                    if (failure != null) {
                        throw failure;
                    }
                });
    }

    @BeforeAll
    static void start() {
        postgres = EmbeddedPostgres.start();
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(postgres.jdbcUrl());
        config.setMaximumPoolSize(2);
        pool = new HikariDataSource(config);
        PostgresSchema.migrate(pool);
    }

    @AfterAll
    static void stop() {
        pool.close();
        postgres.close();
    }

    @BeforeEach
    void prepare() throws SQLException {
        try (Connection connection = pool.getConnection()) {
            execute(connection, "DROP TABLE IF EXISTS effect");
            execute(connection, "CREATE TABLE effect (key text, attempt int)");
            execute(connection, "TRUNCATE hapax_operation");
        }
    }

    @AfterEach
    void close() {
        hapax.close();
    }

    @Test
    void theEffectAndTheRecordAreThereOnceItIsAcknowledged() throws SQLException {
        assertThat(consume("m1")).isEqualTo(new Ack());
        assertThat(consume("m1")).isEqualTo(new Ack());
        assertThat(number("SELECT count(*) FROM effect")).isEqualTo(1);
        assertThat(number("SELECT count(*) FROM hapax_operation WHERE state = 2"))
                .isEqualTo(1);
    }

    @Test
    void aFailureForGoodTakesTheEffectBackAndIsRecorded() throws SQLException {
        failure = new TerminalFailure(422, "no such account");
        assertThat(consume("m1")).isEqualTo(new Reject("no such account"));
        failure = null;
        assertThat(consume("m1")).isEqualTo(new Reject("no such account"));
        assertThat(number("SELECT count(*) FROM effect")).isZero();
    }

    @Test
    void attemptsAreCountedAlthoughTheyAreRolledBack() throws SQLException {
        failure = new IllegalStateException("not yet");
        Disposition first = consume("m1");
        Disposition second = consume("m1");
        assertThat(((RetryLater) first).delay()).isBetween(Duration.ofMillis(80), Duration.ofMillis(120));
        assertThat(((RetryLater) second).delay()).isBetween(Duration.ofMillis(160), Duration.ofMillis(240));
        assertThat(consume("m1"))
                .isInstanceOfSatisfying(
                        Reject.class, it -> assertThat(it.reason()).contains("attempt 3 of 3", "not yet"));
        assertThat(number("SELECT count(*) FROM effect")).isZero();
    }

    @Test
    void aLaterAttemptSucceedsAndKnowsItsNumber() throws SQLException {
        failure = new IllegalStateException("not yet");
        consume("m1");
        failure = null;
        assertThat(consume("m1")).isEqualTo(new Ack());
        assertThat(number("SELECT attempt FROM effect")).isEqualTo(2);
    }

    @Test
    void aConnectionThatBreaksIsTheStoresFaultAndCountsNoAttempt() throws SQLException {
        failure = new SQLException("terminating connection", "57P01");
        for (int i = 0; i < 5; i++) {
            assertThat(consume("m1")).isInstanceOf(RetryLater.class);
        }
        failure = null;
        assertThat(consume("m1")).isEqualTo(new Ack());
        assertThat(number("SELECT attempt FROM effect")).isEqualTo(1);
    }

    @Test
    void attemptThatWasRolledBackIsNotInDoubt() throws SQLException {
        IdempotentConsumer<String> payouts = consumer("payouts");
        failure = new IllegalStateException("not yet");
        assertThat(consume(payouts, "m1")).isInstanceOf(RetryLater.class);
        failure = null;
        assertThat(consume(payouts, "m1")).isEqualTo(new Ack());
        assertThat(number("SELECT attempt FROM effect")).isEqualTo(2);
    }

    @Test
    void connectionsGoBackToThePoolAsTheyCame() throws SQLException {
        failure = new IllegalStateException("not yet");
        consume("m1");
        failure = null;
        consume("m1");
        for (int i = 0; i < 4; i++) {
            try (Connection connection = pool.getConnection()) {
                assertThat(connection.getAutoCommit()).isTrue();
            }
        }
    }

    private Disposition consume(String message) {
        return consume(consumer, message);
    }

    private static Disposition consume(IdempotentConsumer<String> consumer, String message) {
        return consumer.consume(message, Runnable::run)
                .toCompletableFuture()
                .orTimeout(20, TimeUnit.SECONDS)
                .join();
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static long number(String sql) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }
}
