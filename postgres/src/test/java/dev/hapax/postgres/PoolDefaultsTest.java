package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;

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
import dev.hapax.store.Snapshot;
import dev.hapax.store.StoreInspector.Event;
import dev.hapax.store.StoreInspector.Search;
import dev.hapax.store.WhenAbandoned;
import dev.hapax.store.Written;
import dev.hapax.testkit.AtOnce;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TimeZone;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The store works over pools whose connections are not as a driver would open them. */
class PoolDefaultsTest {
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration RETENTION = Duration.ofHours(1);
    private static final Duration TOLERANCE = Duration.ofMinutes(1);
    private static final Result RESULT = Result.completed(Payload.of(new byte[] {1}));
    private static final TestDatabase DATABASE = TestDatabase.migrated();

    private final String key = UUID.randomUUID().toString();

    @ParameterizedTest
    @CsvSource({
        "true, TRANSACTION_READ_COMMITTED",
        "false, TRANSACTION_READ_COMMITTED",
        "true, TRANSACTION_REPEATABLE_READ",
        "false, TRANSACTION_REPEATABLE_READ",
        "true, TRANSACTION_SERIALIZABLE",
        "false, TRANSACTION_SERIALIZABLE"
    })
    void oneOfManyWinsAndTheOthersReplayWhateverThePoolsDefaultsAre(boolean autoCommit, String isolation)
            throws Exception {
        try (HikariDataSource pool = pool(config -> {
                    config.setAutoCommit(autoCommit);
                    config.setTransactionIsolation(isolation);
                    config.setReadOnly(false);
                });
                PostgresStore one = PostgresStore.over(pool);
                PostgresStore two = PostgresStore.over(pool)) {
            for (int round = 0; round < 10; round++) {
                ClaimRequest first = request(key + round);
                List<Claim> claims = AtOnce.call(16, () -> {
                    PostgresStore store = Math.floorMod(Thread.currentThread().getId(), 2) == 0 ? one : two;
                    return await(store.claim(again(first)));
                });

                assertThat(claims).filteredOn(Claim.Won.class::isInstance).hasSize(1);
                assertThat(claims).filteredOn(Claim.Running.class::isInstance).hasSize(15);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"Asia/Kolkata, America/St_Johns", "America/St_Johns, Pacific/Apia", "UTC, Asia/Kolkata"})
    void timeZonesChangeNothing(String session, String jvm) {
        TimeZone before = TimeZone.getDefault();
        TimeZone.setDefault(TimeZone.getTimeZone(jvm));
        try (HikariDataSource pool = pool(config -> config.setConnectionInitSql("SET TIME ZONE '" + session + "'"));
                PostgresStore store = PostgresStore.over(pool)) {
            for (int round = 0; round < 6; round++) {
                assertTimesAreRight(store, request(key + round));
            }
        } finally {
            TimeZone.setDefault(before);
        }
    }

    /** The driver changes from text to binary for a statement that it has seen often enough. */
    @Test
    void anEndlessDeadlineIsReadInTextAndInBinary() {
        try (HikariDataSource pool = pool(config -> config.addDataSourceProperty("prepareThreshold", "2"));
                PostgresStore store = PostgresStore.over(pool)) {
            ClaimTerms park = new ClaimTerms(LEASE, RETENTION, WhenAbandoned.PARK, 3);
            ClaimRequest owner = ClaimRequest.of(new OperationKey("", "s", key), Fingerprint.NONE, "test", park);
            await(store.claim(owner));
            DATABASE.letTimePass(LEASE);
            for (int look = 0; look < 8; look++) {
                assertThat(await(store.claim(again(owner)))).isInstanceOf(Claim.InDoubt.class);
                assertThat(find(store, owner).times().deadline()).isEqualTo(Instant.MAX);
            }
        }
    }

    private static void assertTimesAreRight(PostgresStore store, ClaimRequest owner) {
        assertThat(await(store.claim(owner))).isEqualTo(new Claim.Won(1));
        assertThat(await(store.claim(again(owner))))
                .isInstanceOfSatisfying(
                        Claim.Running.class,
                        running -> assertThat(running.remaining())
                                .isBetween(LEASE.minus(TOLERANCE), LEASE)
                                .isPositive());
        assertThat(await(store.finish(new Finish(owner.id(), owner.token(), RESULT, RETENTION))))
                .isEqualTo(Written.RECORDED);

        Snapshot found = find(store, owner);
        assertThat(found.remaining()).isBetween(RETENTION.minus(TOLERANCE), RETENTION);
        Snapshot.Times times = found.times();
        assertThat(Stream.of(
                        times.createdAt(),
                        times.claimedAt(),
                        times.finishedAt(),
                        times.deadline().minus(RETENTION)))
                .allSatisfy(PoolDefaultsTest::assertIsNow);
        assertThat(store.inspector().timeline(owner.id()))
                .extracting(Event::at)
                .hasSize(3)
                .allSatisfy(PoolDefaultsTest::assertIsNow);
        String thisKey = owner.key().key();
        assertThat(store.inspector().search(Search.everything().keyPrefix(thisKey)))
                .hasSize(1);
        assertThat(store.inspector()
                        .search(Search.everything().keyPrefix(thisKey).olderThan(TOLERANCE)))
                .isEmpty();
    }

    private static void assertIsNow(Instant time) {
        assertThat(Duration.between(time, Instant.now()).abs()).isLessThan(TOLERANCE);
    }

    private static Snapshot find(PostgresStore store, ClaimRequest request) {
        Map<?, Snapshot> found = await(store.find(Set.of(request.id())));
        return found.values().iterator().next();
    }

    private static ClaimRequest request(String key) {
        ClaimTerms terms = new ClaimTerms(LEASE, RETENTION, WhenAbandoned.RERUN, 3);
        return ClaimRequest.of(new OperationKey("", "s", key), Fingerprint.NONE, "test", terms);
    }

    private static ClaimRequest again(ClaimRequest first) {
        return ClaimRequest.of(first.key(), first.fingerprint(), "another", first.terms());
    }

    private static HikariDataSource pool(Consumer<HikariConfig> settings) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(DATABASE.jdbcUrl());
        config.setMaximumPoolSize(6);
        config.setMinimumIdle(0);
        settings.accept(config);
        return new HikariDataSource(config);
    }

    private static <T> T await(CompletionStage<T> stage) {
        return stage.toCompletableFuture().join();
    }
}
