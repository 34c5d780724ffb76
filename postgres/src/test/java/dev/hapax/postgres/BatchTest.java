package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
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
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Requests of one batch are decided independently. */
class BatchTest {
    private static final Duration LOCK_TIMEOUT = Duration.ofMillis(100);

    private final TestDatabase database = TestDatabase.migrated();
    private final Sessions sessions = new Sessions(database.unpooled(), Duration.ofSeconds(10));

    @Test
    void aStaleOwnerChangesNothingBesideOthersThatFinish() {
        ClaimRequest stale = request("a");
        ClaimRequest owner = request("b");
        ClaimRequest successor = request("a");
        claim(stale, owner);
        sessions.call(session -> OwnerWriteBatch.release(LOCK_TIMEOUT, LOCK_TIMEOUT)
                .run(
                        session,
                        LockWait.SHORT,
                        List.of(new Release(
                                stale.id(), stale.token(), Release.Kind.TRY_AGAIN, Duration.ofHours(1), "again"))));
        claim(successor);

        List<Written> written = finish(sessions, stale, owner);

        assertThat(written).containsExactly(Written.CLAIM_LOST, Written.RECORDED);
        assertThat(database.query("SELECT state || ' ' || token FROM hapax_operation WHERE key = 'a'"))
                .isEqualTo("1 " + successor.token());
    }

    @Test
    void oneOfTwoClaimsOfTheSameOperationWins() {
        List<Claim> claims = claim(request("a"), request("a"), request("b"));

        assertThat(claims.subList(0, 2))
                .filteredOn(Claim.Running.class::isInstance)
                .hasSize(1);
        assertThat(claims).filteredOn(new Claim.Won(1)::equals).hasSize(2);
    }

    /** Left to itself, PostgreSQL plans a statement over arrays anew each time, for as many rows as they have. */
    @Test
    void batchOfFinishesIsPlannedOnce() throws SQLException {
        try (HikariDataSource pool = database.pool(1)) {
            Sessions pooled = new Sessions(pool, Duration.ofSeconds(10));
            for (int batch = 0; batch < 20; batch++) {
                ClaimRequest one = request("one-" + batch);
                ClaimRequest other = request("other-" + batch);
                claim(one, other);
                List<Written> written = finish(pooled, one, other);
                assertThat(written).containsOnly(Written.RECORDED);
            }

            assertThat(plans(pool)).isEqualTo("generic, none custom");
        }
    }

    private static String plans(HikariDataSource pool) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("""
                        SELECT CASE WHEN sum(generic_plans) > 0 THEN 'generic' ELSE 'none generic' END
                            || CASE WHEN sum(custom_plans) > 0 THEN ', custom' ELSE ', none custom' END
                        FROM pg_prepared_statements
                        WHERE statement LIKE '%UPDATE hapax_operation%'""")) {
            row.next();
            return row.getString(1);
        }
    }

    private List<Claim> claim(ClaimRequest... requests) {
        return answers(sessions.call(session ->
                new ClaimBatch(LOCK_TIMEOUT, new ReplayRatio()).run(session, LockWait.SHORT, List.of(requests))));
    }

    private static List<Written> finish(Sessions sessions, ClaimRequest... owners) {
        List<Finish> finishes = Stream.of(owners).map(BatchTest::finish).toList();
        return answers(sessions.call(
                session -> OwnerWriteBatch.finish(LOCK_TIMEOUT, LOCK_TIMEOUT).run(session, LockWait.SHORT, finishes)));
    }

    private static <A> List<A> answers(List<Decision<A>> decisions) {
        return decisions.stream()
                .map(decision -> ((Decision.Answered<A>) decision).answer())
                .toList();
    }

    private static ClaimRequest request(String key) {
        ClaimTerms terms = new ClaimTerms(Duration.ofSeconds(30), Duration.ofHours(1), WhenAbandoned.RERUN, 10);
        return ClaimRequest.of(new OperationKey("", "batch", key), Fingerprint.NONE, "somebody", terms);
    }

    private static Finish finish(ClaimRequest owner) {
        Result result = Result.completed(Payload.of(new byte[] {1}));
        return new Finish(owner.id(), owner.token(), result, Duration.ofHours(1));
    }
}
