package dev.hapax.postgres.outbox;

import static dev.hapax.postgres.outbox.Receiver.message;
import static dev.hapax.postgres.outbox.Receiver.unordered;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.hapax.outbox.OutboxMessage;
import dev.hapax.outbox.Outgoing;
import dev.hapax.postgres.TestDatabase;
import dev.hapax.store.StoreException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class OutboxTest {
    private final TestOutbox box = new TestOutbox();
    private final Outbox outbox = Outbox.standard();

    @AfterEach
    void close() {
        box.close();
    }

    @Test
    void messageCommitsWithTheBusinessWrite() throws SQLException {
        box.database.execute("CREATE TABLE orders (id int)");
        try (Connection connection = transaction()) {
            execute(connection, "INSERT INTO orders VALUES (1)");
            outbox.append(connection, message("order-1", "rolled back"));
            connection.rollback();
            execute(connection, "INSERT INTO orders VALUES (2)");
            outbox.append(connection, message("order-2", "committed"));
            connection.commit();
        }
        Receiver receiver = new Receiver();
        box.start(receiver);
        box.awaitEmpty();

        assertThat(receiver.texts()).containsExactly("committed");
        assertThat(box.database.query("SELECT string_agg(id::text, ',') FROM orders"))
                .isEqualTo("2");
    }

    @Test
    void publishedMessageEqualsAppendedOne() {
        OutboxMessage plain = OutboxMessage.to("a", new byte[0]);
        OutboxMessage full = OutboxMessage.to("tÖpic", new byte[] {0, -1, 'x', 13, 10})
                .aggregate("Ä 'quoted' \\ ,{}\"")
                .header("type", "placed: \"now\" \\")
                .header("empty", "")
                .header("colons", ": : :");
        Receiver receiver = new Receiver();
        box.append(plain, full);
        box.start(receiver);
        box.awaitEmpty();

        assertThat(receiver.accepted()).extracting(Outgoing::message).containsExactlyInAnyOrder(plain, full);
        assertThat(receiver.accepted()).extracting(Outgoing::attempt).containsOnly(1);
    }

    @Test
    void manyMessagesTakeOneRoundTrip() throws SQLException {
        AtomicInteger calls = new AtomicInteger();
        try (Connection connection = transaction()) {
            Connection counting = (Connection) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals("prepareStatement")) {
                            calls.incrementAndGet();
                        }
                        try {
                            return method.invoke(connection, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
            outbox.append(
                    counting,
                    IntStream.range(0, 1_000)
                            .mapToObj(i -> message("order-" + i % 7, "message " + i))
                            .toList());
            connection.commit();
        }
        assertThat(calls).hasValue(1);
        assertThat(box.rows()).isEqualTo(1_000);
    }

    @Test
    void appendOfNothingSendsNoStatement() throws SQLException {
        try (Connection connection = transaction()) {
            outbox.append(connection, List.of());
            connection.commit();
        }
        assertThat(box.rows()).isZero();
    }

    @Test
    void autoCommitIsRefused() throws SQLException {
        try (Connection connection = box.pool.getConnection()) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> outbox.append(connection, unordered("alone")))
                    .withMessageContaining("setAutoCommit(false)");
        }
        assertThat(box.rows()).isZero();
    }

    @Test
    void missingTableIsExplained() throws SQLException {
        TestDatabase empty = TestDatabase.empty();
        try (Connection connection = empty.unpooled().getConnection()) {
            connection.setAutoCommit(false);
            assertThatExceptionOfType(StoreException.class)
                    .isThrownBy(() -> outbox.append(connection, unordered("lost")))
                    .withMessageContaining("PostgresSchema.migrate");
        }
    }

    /** Otherwise the second one could become visible, and be published, before the first one. */
    @Test
    void appendsToTheSameAggregateAreSerialized() throws Exception {
        try (Connection first = transaction();
                Connection second = transaction()) {
            outbox.append(first, message("order-1", "one"));
            CompletableFuture<Void> waiting =
                    CompletableFuture.runAsync(() -> outbox.append(second, message("order-1", "two")));
            TestOutbox.await().until(() -> box.database.queryLong("""
                    SELECT count(*) FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event = 'advisory'""") == 1);
            assertThat(waiting).isNotDone();
            first.commit();
            waiting.get(60, TimeUnit.SECONDS);
            second.commit();
        }
        Receiver receiver = new Receiver();
        box.start(receiver);
        box.awaitEmpty();

        assertThat(receiver.texts()).containsExactly("one", "two");
    }

    @Test
    void appendsToOtherAggregatesDoNotWait() throws Exception {
        String other = IntStream.range(0, 100)
                .mapToObj(i -> "other-" + i)
                .filter(it -> OrderingKey.lock(OrderingKey.of("orders", it))
                        != OrderingKey.lock(OrderingKey.of("orders", "order-1")))
                .findFirst()
                .orElseThrow();
        try (Connection first = transaction();
                Connection second = transaction()) {
            outbox.append(first, message("order-1", "one"), unordered("no order"));
            execute(second, "SET lock_timeout = '1ms'");
            outbox.append(second, message(other, "two"), unordered("no order either"));
            second.commit();
            first.commit();
        }
        assertThat(box.rows()).isEqualTo(4);
    }

    /** The server's lock table has room for some thousands, shared by all. */
    @Test
    void oneTransactionAppendsToManyAggregates() throws SQLException {
        try (Connection connection = transaction()) {
            outbox.append(
                    connection,
                    IntStream.range(0, 30_000)
                            .mapToObj(i -> message("order-" + i, ""))
                            .toList());
            assertThat(box.database.queryLong("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"))
                    .isLessThanOrEqualTo(OrderingKey.LOCKS);
            connection.commit();
        }
        assertThat(box.rows()).isEqualTo(30_000);
    }

    @Test
    void listeningRelayIsWokenByACommit() throws SQLException {
        Receiver receiver = new Receiver();
        box.start(OutboxRelay.over(box.pool, receiver)
                .pollEvery(Duration.ofHours(1))
                .listen(box.database.unpooled(), (connection, atMost) -> {
                    Thread.currentThread().interrupt(); // must not end the thread that listens
                    return connection
                                    .unwrap(org.postgresql.PGConnection.class)
                                    .getNotifications((int) atMost.toMillis())
                                    .length
                            > 0;
                }));
        TestOutbox.await().until(() -> box.database.queryLong("""
                SELECT count(*) FROM pg_stat_activity WHERE query = 'LISTEN hapax_outbox'""") == 1);
        for (int i = 0; i < 3; i++) {
            int expected = i + 1;
            try (Connection connection = transaction()) {
                Outbox.standard().notifying().append(connection, unordered("news"));
                connection.commit();
            }
            TestOutbox.await().until(() -> receiver.accepted().size() == expected);
        }
    }

    private Connection transaction() throws SQLException {
        Connection connection = box.pool.getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
