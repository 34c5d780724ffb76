package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.ClaimTerms;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.Finish;
import dev.hapax.store.OperationId;
import dev.hapax.store.OperationKey;
import dev.hapax.store.Payload;
import dev.hapax.store.Release;
import dev.hapax.store.Result;
import dev.hapax.store.StoreUnavailableException;
import dev.hapax.store.WhenAbandoned;
import dev.hapax.store.Written;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a long lock on the whole table, as a migration takes it, costs the application: waiting, but not its pool. */
@Timeout(120)
class LockedTableTest {
    private static final int CALLERS = 300;
    private static final int MOST_CONNECTIONS = 8;
    private static final Duration LONGER_THAN_THE_IO_TIMEOUT = Duration.ofSeconds(3);

    private final TestDatabase database = TestDatabase.migrated();
    private final HikariDataSource pool = database.pool(100);
    private final WatchedDataSource dataSource = new WatchedDataSource(pool);
    private final PostgresStore store =
            PostgresStore.builder(dataSource).ioTimeout(Duration.ofSeconds(1)).build();

    @AfterEach
    void close() {
        store.close();
        pool.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "LOCK TABLE hapax_operation IN ACCESS EXCLUSIVE MODE",
                "SELECT FROM hapax_operation FOR UPDATE",
            })
    void locksTakeNoMoreConnectionsThanDocumented(String lock) throws Exception {
        List<ClaimRequest> owners =
                IntStream.range(0, CALLERS).mapToObj(i -> request("old-" + i)).toList();
        store.claimAll(owners).forEach(claim -> assertThat(await(claim)).isEqualTo(new Claim.Won(1)));
        List<CompletionStage<Claim>> claims = new ArrayList<>();
        List<CompletionStage<Written>> writes = new ArrayList<>();
        try (Connection foreign = begin(lock)) {
            for (ClaimRequest owner : owners) {
                claims.add(store.claim(request("new-" + owner.key().key())));
                writes.add(
                        owners.indexOf(owner) % 2 == 0 ? store.finish(finish(owner)) : store.release(release(owner)));
                store.find(List.of(new OperationId(UUID.randomUUID())));
            }
            Awaitility.await()
                    .pollDelay(LONGER_THAN_THE_IO_TIMEOUT)
                    .atMost(Duration.ofMinutes(1))
                    .until(() -> dataSource.checkouts() > 2 * MOST_CONNECTIONS);

            assertThat(database.queryLong("SELECT count(*) FROM pg_locks WHERE NOT granted"))
                    .as("statements that wait for the lock")
                    .isLessThanOrEqualTo(MOST_CONNECTIONS);
            assertThat(dataSource.mostInUse()).isLessThanOrEqualTo(MOST_CONNECTIONS);
            foreign.rollback();
        }
        claims.forEach(claim -> assertThat(await(claim)).isEqualTo(new Claim.Won(1)));
        writes.forEach(write -> assertThat(await(write)).isEqualTo(Written.RECORDED));
        assertThat(dataSource.mostInUse()).isLessThanOrEqualTo(MOST_CONNECTIONS);
    }

    @Test
    void claimWaitsForALockAsLongAsItAsksFor() throws Exception {
        try (Connection foreign = begin("LOCK TABLE hapax_operation IN ACCESS EXCLUSIVE MODE")) {
            ClaimRequest request = request("k");
            ClaimRequest hurried = new ClaimRequest(
                    request.id(),
                    request.key(),
                    request.fingerprint(),
                    request.token(),
                    request.owner(),
                    request.terms(),
                    Duration.ofMillis(300));
            CompletableFuture<Claim> patient = store.claim(request("other")).toCompletableFuture();

            assertThat(store.claim(hurried).toCompletableFuture())
                    .failsWithin(Duration.ofSeconds(60))
                    .withThrowableOfType(ExecutionException.class)
                    .withCauseInstanceOf(StoreUnavailableException.class)
                    .withMessageContaining("55P03");
            assertThat(patient).isNotDone();
            foreign.rollback();
            assertThat(patient).succeedsWithin(Duration.ofSeconds(60)).isEqualTo(new Claim.Won(1));
        }
    }

    private Connection begin(String sql) throws SQLException {
        Connection connection = database.unpooled().getConnection();
        connection.setAutoCommit(false);
        Shop.execute(connection, sql);
        return connection;
    }

    private static ClaimRequest request(String key) {
        ClaimTerms terms = new ClaimTerms(Duration.ofMinutes(5), Duration.ofHours(1), WhenAbandoned.RERUN, 3);
        return ClaimRequest.of(new OperationKey("", "s", key), Fingerprint.NONE, "test", terms);
    }

    private static Finish finish(ClaimRequest owner) {
        Result result = Result.completed(Payload.of(new byte[] {1}));
        return new Finish(owner.id(), owner.token(), result, Duration.ofHours(1));
    }

    private static Release release(ClaimRequest owner) {
        return new Release(owner.id(), owner.token(), Release.Kind.TRY_AGAIN, Duration.ofHours(1), "again");
    }

    private static <T> T await(CompletionStage<T> stage) {
        return stage.toCompletableFuture().join();
    }
}
