package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.Outcome;
import dev.hapax.TerminalFailure;
import dev.hapax.store.StoreException;
import dev.hapax.testkit.fault.FaultProxy;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.ObjIntConsumer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A transaction whose connection breaks at every point where it can, the answer to the commit included. The client
 * cannot know what became of it; the retry must find both the effect and its record, or neither.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TransactionalFaultsTest {
    private static final Duration FAULT = Duration.ofSeconds(20);
    private static final int FEWEST_WRITES = 4; // lock, look, effect and record, commit

    private final Shop shop = new Shop(2);
    private FaultProxy proxy;

    @BeforeEach
    void startProxy() throws IOException {
        proxy = FaultProxy.to("127.0.0.1", shop.database.port());
    }

    @AfterEach
    void close() throws IOException {
        proxy.close();
        shop.close();
    }

    private interface Work {
        void run(Connection connection, String key) throws SQLException;
    }

    @Test
    void whereverAnAnswerIsLostTheOrderIsPlacedOnce() throws Exception {
        int points = walk(FaultProxy::loseAnswerAfter, this::orderAndCommit);

        assertThat(points).isGreaterThanOrEqualTo(FEWEST_WRITES);
        assertOneOrderEach(points + 1);
    }

    @Test
    void whereverARequestIsLostTheOrderIsPlacedOnce() throws Exception {
        int points = walk(FaultProxy::dropRequestAfter, this::orderAndCommit);

        assertThat(points).isGreaterThanOrEqualTo(FEWEST_WRITES);
        assertOneOrderEach(points + 1);
    }

    @Test
    void whereverAnAnswerIsLostARejectionLeavesNoOrder() throws Exception {
        int points = walk(FaultProxy::loseAnswerAfter, this::rejectAndCommit);

        assertThat(points).isGreaterThanOrEqualTo(FEWEST_WRITES);
        assertThat(shop.database.queryLong("""
                        SELECT count(*) FROM hapax_operations AS record
                        WHERE (state = 'FAILED') = EXISTS (SELECT FROM orders WHERE orders.key = record.key)""")).isZero();
    }

    /** The claim, the effect, and the record with its COMMIT: one round trip each. */
    @Test
    void whereverAnAnswerIsLostOurOwnCommitIsMadeOnce() throws Exception {
        assertThat(walk(FaultProxy::loseAnswerAfter, this::orderInOurTransaction))
                .isEqualTo(3);
        assertOneOrderEach(4);
    }

    @Test
    void whereverARequestIsLostOurOwnCommitIsMadeOnce() throws Exception {
        assertThat(walk(FaultProxy::dropRequestAfter, this::orderInOurTransaction))
                .isEqualTo(3);
        assertOneOrderEach(4);
    }

    @Test
    void theAnswerToTheCommitAloneIsLost() throws Exception {
        try (Connection connection = throughProxy()) {
            shop.order(connection, "k");
            proxy.loseNextAnswer();
            assertThat(fails(connection::commit)).isTrue();
            assertThat(proxy.awaitFault(FAULT)).isTrue();
        }

        assertThat(retry("k")).isInstanceOf(Outcome.Replayed.class);
        assertOneOrderEach(1);
    }

    @Test
    void theCommitItselfIsLost() throws Exception {
        try (Connection connection = throughProxy()) {
            shop.order(connection, "k");
            proxy.dropNextRequest();
            assertThat(fails(connection::commit)).isTrue();
            assertThat(proxy.awaitFault(FAULT)).isTrue();
        }

        assertThat(retry("k")).isInstanceOf(Outcome.Executed.class);
        assertOneOrderEach(1);
    }

    /** @return how many points there were to break the work at; each had a key of its own, and so had the whole run */
    private int walk(ObjIntConsumer<FaultProxy> arm, Work work) throws Exception {
        for (int point = 0; ; point++) {
            String key = "k" + point;
            boolean broken;
            try (Connection connection = throughProxy()) {
                arm.accept(proxy, point);
                broken = fails(() -> work.run(connection, key));
                if (proxy.disarm()) {
                    assertThat(broken).isFalse();
                    return point;
                }
                assertThat(proxy.awaitFault(FAULT)).isTrue();
            }
            Outcome<String> outcome = retry(key);
            assertThat(broken || outcome instanceof Outcome.Replayed).isTrue();
        }
    }

    private void orderAndCommit(Connection connection, String key) throws SQLException {
        shop.order(connection, key);
        connection.commit();
    }

    private void orderInOurTransaction(Connection connection, String key) throws SQLException {
        connection.setAutoCommit(true);
        try {
            PostgresTransactions.over(new OneConnection(connection))
                    .call((it, transaction) -> shop.hapax
                            .transactional(transaction)
                            .scope("orders")
                            .key(key)
                            .returning(String.class)
                            .run(Shop.placing(it, key)));
        } catch (SQLException | RuntimeException broken) {
            throw broken;
        } catch (Exception unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    private void rejectAndCommit(Connection connection, String key) throws SQLException {
        shop.within(connection, key).run(lease -> {
            Shop.place(connection, key);
            throw new TerminalFailure(402, "declined");
        });
        connection.commit();
    }

    /** The server may take a moment to notice that a client is gone; until then the operation is in progress. */
    private Outcome<String> retry(String key) {
        return Awaitility.await()
                .until(() -> shop.orderAndCommit(key), outcome -> !(outcome instanceof Outcome.InProgress));
    }

    private void assertOneOrderEach(int keys) {
        assertThat(shop.database.queryLong("SELECT count(*) FROM orders")).isEqualTo(keys);
        assertThat(shop.database.queryLong("SELECT count(DISTINCT key) FROM orders"))
                .isEqualTo(keys);
        assertThat(shop.database.queryLong("SELECT count(*) FROM hapax_operations WHERE state = 'COMPLETED'"))
                .isEqualTo(keys);
    }

    private interface Step {
        void run() throws SQLException;
    }

    private static boolean fails(Step step) {
        try {
            step.run();
            return false;
        } catch (SQLException | StoreException broken) {
            return true;
        }
    }

    private Connection throughProxy() throws SQLException {
        String url = shop.database.jdbcUrl().replace(":" + shop.database.port() + "/", ":" + proxy.port() + "/");
        Connection connection = TestDatabase.unpooled(url).getConnection();
        connection.setAutoCommit(false);
        return connection;
    }
}
