package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Hapax;
import dev.hapax.Outcome;
import dev.hapax.Policy;
import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.ClaimTerms;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.Finish;
import dev.hapax.store.OperationKey;
import dev.hapax.store.Payload;
import dev.hapax.store.Result;
import dev.hapax.store.StoreUnavailableException;
import dev.hapax.store.WhenAbandoned;
import dev.hapax.store.Written;
import dev.hapax.testkit.fault.FaultProxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

/** A connection that goes silent, as behind a firewall that forgot it: the request is sent again over another one. */
@Timeout(120)
class SilentConnectionTest {
    private static final Duration LONGER_THAN_THE_IO_TIMEOUT = Duration.ofSeconds(20);

    private final TestDatabase database = TestDatabase.migrated();
    private final Switch network = new Switch();
    private FaultProxy proxy;
    private HikariDataSource pool;
    private PostgresStore store;

    /** Opens connections by way of the proxy, and from then on past it once they have gone silent. */
    private final class Switch extends PGSimpleDataSource {
        private static final long serialVersionUID = 1L;

        private volatile boolean silent;

        @Override
        public Connection getConnection() throws SQLException {
            String url = database.jdbcUrl();
            String proxied = url.replace(":" + database.port() + "/", ":" + proxy.port() + "/");
            return TestDatabase.unpooled(silent ? url : proxied).getConnection();
        }
    }

    @BeforeEach
    void connect() throws Exception {
        proxy = FaultProxy.to("127.0.0.1", database.port());
        HikariConfig config = new HikariConfig();
        config.setDataSource(network);
        config.setMaximumPoolSize(1);
        config.setConnectionTimeout(Duration.ofSeconds(10).toMillis());
        pool = new HikariDataSource(config);
        store = PostgresStore.over(pool);
    }

    @AfterEach
    void disconnect() throws Exception {
        store.close();
        proxy.resume();
        pool.close();
        proxy.close();
    }

    @Test
    void claimOverASilentConnectionFailsInTimeToRetry() {
        ClaimRequest request = request("k");
        claim(request("warm-up"));
        goSilent();

        assertThat(store.claim(request).toCompletableFuture())
                .failsWithin(Duration.ofSeconds(8))
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(StoreUnavailableException.class);
        assertThat(store.claim(request).toCompletableFuture())
                .succeedsWithin(LONGER_THAN_THE_IO_TIMEOUT)
                .isEqualTo(new Claim.Won(1));
    }

    @Test
    void finishOverASilentConnectionFailsInTimeToRetry() {
        ClaimRequest owner = request("k");
        claim(owner);
        Finish finish = new Finish(
                owner.id(), owner.token(), Result.completed(Payload.of(new byte[] {1})), Duration.ofHours(1));
        goSilent();

        assertThat(store.finish(finish).toCompletableFuture())
                .failsWithin(Duration.ofSeconds(8))
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(StoreUnavailableException.class);
        assertThat(store.finish(finish).toCompletableFuture())
                .succeedsWithin(LONGER_THAN_THE_IO_TIMEOUT)
                .isEqualTo(Written.RECORDED);
    }

    @Test
    void callWhoseClaimMeetsSilenceRuns() {
        try (Hapax hapax = hapax()) {
            claim(request("warm-up"));
            goSilent();

            Outcome<byte[]> outcome = hapax.scope("silent").key("k").run(lease -> new byte[] {1});

            assertRecorded(outcome);
        }
    }

    @Test
    void callWhoseFinishMeetsSilenceIsRecorded() {
        try (Hapax hapax = hapax()) {
            Outcome<byte[]> outcome = hapax.scope("silent").key("k").run(lease -> {
                goSilent();
                return new byte[] {1};
            });

            assertRecorded(outcome);
        }
    }

    private static void assertRecorded(Outcome<byte[]> outcome) {
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.Executed.class,
                        executed -> assertThat(executed.recorded()).isTrue());
    }

    private Hapax hapax() {
        return Hapax.on(store)
                .scope("silent", Policy.defaults())
                .withoutSweeper()
                .build();
    }

    private void goSilent() {
        network.silent = true;
        proxy.stall();
    }

    private void claim(ClaimRequest request) {
        CompletableFuture<Claim> claim = store.claim(request).toCompletableFuture();
        assertThat(claim.join()).isEqualTo(new Claim.Won(1));
    }

    private static ClaimRequest request(String key) {
        ClaimTerms terms = new ClaimTerms(Duration.ofSeconds(30), Duration.ofHours(1), WhenAbandoned.RERUN, 3);
        return ClaimRequest.of(new OperationKey("", "silent", key), Fingerprint.NONE, "test", terms);
    }
}
