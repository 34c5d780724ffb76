package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.ClaimTerms;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.Finish;
import dev.hapax.store.OperationKey;
import dev.hapax.store.Payload;
import dev.hapax.store.Release;
import dev.hapax.store.Result;
import dev.hapax.store.WhenAbandoned;
import dev.hapax.store.Written;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;
import org.postgresql.ds.PGSimpleDataSource;

/** The store and data sources that give each thread the connection of its own transaction, as Spring's proxy does. */
@Timeout(60)
class ThreadBoundDataSourceTest {
    private final TestDatabase database = TestDatabase.migrated();
    private final Bound bound = new Bound(database);
    private final PostgresStore store = PostgresStore.over(bound);
    private Connection mine;

    /** Gives a thread the connection that is bound to it, and any other thread a new one. */
    private static final class Bound extends PGSimpleDataSource {
        private static final long serialVersionUID = 1L;

        private final transient TestDatabase database;
        private final transient Map<Thread, Connection> byThread = new ConcurrentHashMap<>();

        Bound(TestDatabase database) {
            this.database = database;
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection own = byThread.get(Thread.currentThread());
            return own == null ? database.unpooled().getConnection() : neverClosed(own);
        }

        private static Connection neverClosed(Connection own) {
            return (Connection) Proxy.newProxyInstance(
                    Connection.class.getClassLoader(),
                    new Class<?>[] {Connection.class},
                    (proxy, method, arguments) -> {
                        if (method.getName().equals("close")) {
                            return null;
                        }
                        try {
                            return method.invoke(own, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }
    }

    @BeforeEach
    void beginTransaction() throws SQLException {
        database.execute("CREATE TABLE orders (id int)");
        mine = database.unpooled().getConnection();
        mine.setAutoCommit(false);
        mine.setNetworkTimeout(Runnable::run, 54_321);
        bound.byThread.put(Thread.currentThread(), mine);
    }

    @AfterEach
    void close() throws SQLException {
        mine.close();
        store.close();
    }

    @Test
    void openTransactionIsRefusedAndLeftAsItWas() throws SQLException {
        Shop.execute(mine, "INSERT INTO orders VALUES (1)");

        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(() -> await(store.forBlockingCallers().claim(request("k"))))
                .havingCause()
                .isInstanceOf(OpenTransactionException.class)
                .withMessageContaining("callerThreads(false)")
                .withMessageContaining("transactional");

        assertThat(state()).isEqualTo(TransactionState.OPEN);
        assertThat(mine.getAutoCommit()).isFalse();
        assertThat(mine.getNetworkTimeout()).isEqualTo(54_321);
        mine.rollback();
        assertThat(database.queryLong("SELECT count(*) FROM orders")).isZero();
        assertThat(database.queryLong("SELECT count(*) FROM hapax_operation")).isZero();
    }

    @Test
    void failedTransactionIsRefused() {
        assertThatExceptionOfType(SQLException.class).isThrownBy(() -> Shop.execute(mine, "SELECT 1 / 0"));

        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(() -> await(store.forBlockingCallers().claim(request("k"))))
                .withCauseInstanceOf(OpenTransactionException.class);

        assertThat(state()).isEqualTo(TransactionState.FAILED);
    }

    @Test
    void transactionThatHasNotBegunIsLeftToItsOwner() throws SQLException {
        assertThat(await(store.forBlockingCallers().claim(request("k")))).isEqualTo(new Claim.Won(1));

        assertThat(state()).isEqualTo(TransactionState.IDLE);
        assertThat(mine.getAutoCommit()).isFalse();
        Shop.execute(mine, "INSERT INTO orders VALUES (1)");
        mine.rollback();
        assertThat(database.queryLong("SELECT count(*) FROM orders")).isZero();
        assertThat(database.queryLong("SELECT count(*) FROM hapax_operation")).isOne();
    }

    @Test
    void asynchronousCallDoesNotMeetTheTransaction() throws SQLException {
        Shop.execute(mine, "INSERT INTO orders VALUES (1)");

        assertThat(await(store.claim(request("k")))).isEqualTo(new Claim.Won(1));

        assertThat(state()).isEqualTo(TransactionState.OPEN);
    }

    /** The handler's effect is done by then, so its result must not be lost. */
    @Test
    void finishInsideAnOpenTransactionIsRecorded() throws SQLException {
        ClaimRequest owner = request("k");
        assertThat(await(store.forBlockingCallers().claim(owner))).isEqualTo(new Claim.Won(1));
        Shop.execute(mine, "INSERT INTO orders VALUES (1)");

        Finish finish = new Finish(
                owner.id(), owner.token(), Result.completed(Payload.of(new byte[] {1})), Duration.ofHours(1));
        assertThat(await(store.forBlockingCallers().finish(finish))).isEqualTo(Written.RECORDED);

        assertThat(state()).isEqualTo(TransactionState.OPEN);
    }

    @Test
    void releaseInsideAnOpenTransactionIsRecorded() throws SQLException {
        ClaimRequest owner = request("k");
        assertThat(await(store.forBlockingCallers().claim(owner))).isEqualTo(new Claim.Won(1));
        Shop.execute(mine, "INSERT INTO orders VALUES (1)");

        Release release =
                new Release(owner.id(), owner.token(), Release.Kind.TRY_AGAIN, Duration.ofHours(1), "try again");
        assertThat(await(store.forBlockingCallers().release(release))).isEqualTo(Written.RECORDED);
    }

    private TransactionState state() {
        try {
            return mine.unwrap(BaseConnection.class).getTransactionState();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static ClaimRequest request(String key) {
        ClaimTerms terms = new ClaimTerms(Duration.ofSeconds(30), Duration.ofHours(1), WhenAbandoned.RERUN, 3);
        return ClaimRequest.of(new OperationKey("", "s", key), Fingerprint.NONE, "test", terms);
    }

    private static <T> T await(CompletionStage<T> stage) {
        CompletableFuture<T> answer = stage.toCompletableFuture();
        return answer.join();
    }
}
