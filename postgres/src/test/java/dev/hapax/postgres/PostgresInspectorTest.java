package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.ClaimTerms;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.Finish;
import dev.hapax.store.OperationKey;
import dev.hapax.store.Payload;
import dev.hapax.store.Release;
import dev.hapax.store.Renewal;
import dev.hapax.store.RenewalStatus;
import dev.hapax.store.Result;
import dev.hapax.store.Snapshot;
import dev.hapax.store.State;
import dev.hapax.store.StoreInspector.Event;
import dev.hapax.store.StoreInspector.Event.Kind;
import dev.hapax.store.StoreInspector.Search;
import dev.hapax.store.Swept;
import dev.hapax.store.WhenAbandoned;
import dev.hapax.store.Written;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PostgresInspectorTest {
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration RETENTION = Duration.ofHours(1);
    private static final Result RESULT = Result.completed(Payload.of("done".getBytes(StandardCharsets.UTF_8)));
    private static final Result FAILURE = Result.failed(402, "declined");

    private static final TestDatabase DATABASE = TestDatabase.migrated();
    private static final HikariDataSource POOL = DATABASE.pool(2);
    private static final PostgresStore STORE = PostgresStore.over(POOL);

    private final PostgresInspector inspector = STORE.inspector();

    @BeforeEach
    void empty() {
        DATABASE.execute("TRUNCATE hapax_operation, hapax_event");
    }

    @AfterAll
    static void close() {
        STORE.close();
        POOL.close();
    }

    @Test
    void findsByTenant() {
        won("ann", "payments", "1");
        won("bob", "payments", "2");
        won("", "payments", "3");

        assertThat(keys(Search.everything().tenant("ann"))).containsExactly("1");
        assertThat(keys(Search.everything().tenant(""))).containsExactly("3");
        assertThat(keys(Search.everything().tenant("an"))).isEmpty();
    }

    @Test
    void findsByScope() {
        won("ann", "payments", "1");
        won("ann", "payments.refunds", "2");

        assertThat(keys(Search.everything().scope("payments"))).containsExactly("1");
    }

    @Test
    void findsByTheBeginningOfTheKey() {
        won("", "s", "order-1");
        won("", "s", "order-2");
        won("", "s", "reorder-1");

        assertThat(keys(Search.everything().keyPrefix("order-"))).containsExactly("order-2", "order-1");
        assertThat(keys(Search.everything().keyPrefix("order-2"))).containsExactly("order-2");
        assertThat(keys(Search.everything().keyPrefix("Order"))).isEmpty();
    }

    @Test
    void takesThePrefixLiterally() {
        for (String key : List.of("100%", "100x", "a_b", "axb", "c\\d", "cd", "';--")) {
            won("", "s", key);
        }

        assertThat(keys(Search.everything().keyPrefix("100%"))).containsExactly("100%");
        assertThat(keys(Search.everything().keyPrefix("a_"))).containsExactly("a_b");
        assertThat(keys(Search.everything().keyPrefix("c\\"))).containsExactly("c\\d");
        assertThat(keys(Search.everything().keyPrefix("';"))).containsExactly("';--");
        assertThat(keys(Search.everything().keyPrefix("%"))).isEmpty();
    }

    @Test
    void findsByState() {
        for (State state : State.values()) {
            in(state);
        }

        for (State state : State.values()) {
            assertThat(keys(Search.everything().states(state))).containsExactly(state.name());
        }
        assertThat(keys(Search.everything().states(State.FAILED, State.IN_DOUBT)))
                .containsExactlyInAnyOrder("FAILED", "IN_DOUBT");
        assertThat(keys(Search.everything())).hasSize(State.values().length);
    }

    @Test
    void findsByAge() {
        won("", "s", "old");
        DATABASE.letTimePass(Duration.ofMinutes(10));
        won("", "s", "new");

        assertThat(keys(Search.everything().olderThan(Duration.ofMinutes(5)))).containsExactly("old");
        assertThat(keys(Search.everything().olderThan(Duration.ofMinutes(11)))).isEmpty();
        assertThat(keys(Search.everything())).containsExactly("new", "old");
    }

    @Test
    void givesTheNewestUpToTheLimit() {
        for (int i = 0; i < 5; i++) {
            won("", "s", "k" + i);
        }

        assertThat(keys(Search.everything().limit(3))).containsExactly("k4", "k3", "k2");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Search.everything().limit(0));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Search.everything().limit(10_001));
    }

    @Test
    void allConditionsMustFit() {
        won("ann", "s", "a1");
        won("bob", "s", "a2");
        won("ann", "t", "a3");
        finish(won("ann", "s", "a4"), RESULT);
        won("ann", "s", "b5");

        Search search =
                Search.everything().tenant("ann").scope("s").keyPrefix("a").states(State.PROCESSING);

        assertThat(keys(search)).containsExactly("a1");
    }

    @Test
    void showsTheWholeOperation() {
        ClaimRequest owner = won("ann", "payments", "1");
        finish(owner, RESULT);

        Snapshot found = inspector.search(Search.everything()).get(0);

        assertThat(found.id()).isEqualTo(owner.id());
        assertThat(found.key()).isEqualTo(owner.key());
        assertThat(found.owner()).isEqualTo("worker");
        assertThat(found.result()).isEqualTo(RESULT);
        assertThat(found.remaining()).isPositive().isLessThanOrEqualTo(RETENTION);
    }

    @Test
    void anOperationInDoubtHasNoDeadline() {
        in(State.IN_DOUBT);

        assertThat(inspector.search(Search.everything()).get(0).times().deadline())
                .isEqualTo(Instant.MAX);
    }

    /** Statistics taken while the table was empty would make PostgreSQL read all of it. */
    @Test
    void listingWhatIsInDoubtReadsOnlyParkedRows() throws Exception {
        TestDatabase database = TestDatabase.migrated();
        database.execute("ALTER TABLE hapax_operation SET (autovacuum_enabled = false)");
        database.execute("VACUUM ANALYZE hapax_operation");
        fill(database, "ended", 30_000, State.COMPLETED, "now() + n * interval '1 s'");
        fill(database, "parked", 250, State.IN_DOUBT, "'infinity'");
        long scans = scansOf(database, "seq_scan");
        PostgresStore store = PostgresStore.over(database.unpooled());
        for (int i = 0; i < 10; i++) {
            assertThat(store.inspector().search(Search.everything().states(State.IN_DOUBT)))
                    .hasSize(100)
                    .extracting(found -> found.key().key())
                    .startsWith("parked250", "parked249");
        }
        assertThat(store.inspector()
                        .search(Search.everything().states(State.IN_DOUBT).keyPrefix("parked7")))
                .hasSize(11);

        Awaitility.await()
                .untilAsserted(() -> assertThat(readByDeadline(database)).isEqualTo(11 * 250));
        assertThat(scansOf(database, "seq_scan")).isEqualTo(scans);
    }

    @Test
    void theTimelineOfNothingIsEmpty() {
        assertThat(inspector.timeline(request("", "s", "unknown").id())).isEmpty();
    }

    @Test
    void theTimelineOfAPlainOperation() {
        ClaimRequest owner = won("ann", "s", "1");
        finish(owner, RESULT);

        assertThat(timeline(owner)).containsExactly("CREATED 1 ann", "CLAIMED 1 worker", "COMPLETED 1 worker");
    }

    @Test
    void theTimelineOfAFailureTellsWhy() {
        ClaimRequest owner = won("ann", "s", "1");
        finish(owner, FAILURE);

        Event last = last(owner);
        assertThat(last.kind()).isEqualTo(Kind.FAILED);
        assertThat(last.detail()).isEqualTo("declined");
    }

    @Test
    void theTimelineOfOneThatWasReleasedAndRunAgain() {
        ClaimRequest first = won("ann", "s", "1");
        release(first);
        ClaimRequest second = again(first, "second");
        assertThat(claim(second)).isInstanceOf(Claim.Won.class);
        finish(second, RESULT);

        assertThat(timeline(first))
                .containsExactly("CREATED 1 ann", "RELEASED 1 worker", "CLAIMED 2 second", "COMPLETED 2 second");
        assertThat(inspector.timeline(first.id()))
                .filteredOn(event -> event.kind() == Kind.RELEASED)
                .extracting(Event::detail)
                .containsExactly("try again");
    }

    @Test
    void theTimelineOfOneThatWasTakenOverAfterACrash() {
        ClaimRequest first = won("ann", "s", "1");
        DATABASE.letTimePass(LEASE);
        ClaimRequest second = again(first, "second");
        assertThat(claim(second)).isInstanceOf(Claim.Won.class);
        finish(second, RESULT);

        assertThat(timeline(first)).containsExactly("CREATED 1 ann", "TAKEN_OVER 2 second", "COMPLETED 2 second");
        assertThat(inspector.timeline(first.id()).get(1).detail()).isEqualTo("from worker");
    }

    @Test
    void theTimelineOfOneThatWasSwept() {
        ClaimRequest first = won("ann", "s", "1");
        DATABASE.letTimePass(LEASE);
        assertThat(sweep().reopened()).isOne();

        assertThat(timeline(first)).containsExactly("CREATED 1 ann", "CLAIMED 1 worker", "REOPENED 1 sweeper");
    }

    @Test
    void theTimelineOfOneThatNobodyCameForAgain() {
        ClaimRequest first = won("ann", "s", "1");
        release(first);
        DATABASE.letTimePass(RETENTION);
        assertThat(sweep().timedOut()).isOne();

        assertThat(kinds(first)).containsExactly(Kind.CREATED, Kind.CLAIMED, Kind.RELEASED, Kind.TIMED_OUT);
    }

    @Test
    void theTimelineOfOneThatWasParkedAndResolved() {
        ClaimRequest owner = in(State.IN_DOUBT);
        inspector.resolve(owner.id(), RESULT, RETENTION, "olga");

        assertThat(timeline(owner))
                .containsExactly("CREATED 1 ", "CLAIMED 1 worker", "PARKED 1 sweeper", "RESOLVED 1 olga");
        assertThat(last(owner).detail()).isEqualTo("COMPLETED");
    }

    @Test
    void theTimelineOfOneThatWasForceReleased() {
        ClaimRequest owner = won("ann", "s", "1");
        inspector.forceRelease(owner.id(), tokenOf(owner), "olga", "it hangs");

        assertThat(timeline(owner)).containsExactly("CREATED 1 ann", "CLAIMED 1 worker", "FORCE_RELEASED 1 olga");
        assertThat(last(owner).detail()).isEqualTo("it hangs");
    }

    /** What happened to the operation that had the key before must not hide how this one ended. */
    @Test
    void theTimelineOfOneThatWasBegunAnewTellsOnlyOfItself() {
        ClaimRequest before = in(State.IN_DOUBT);
        inspector.resolve(before.id(), FAILURE, RETENTION, "olga");
        DATABASE.letTimePass(RETENTION);
        DATABASE.execute("UPDATE hapax_event SET at = at - interval '1 hour'");
        ClaimRequest anew = again(before, "second");
        assertThat(claim(anew)).isEqualTo(new Claim.Won(1, 2, null));
        finish(anew, RESULT);

        assertThat(kinds(anew)).doesNotContain(Kind.PARKED, Kind.RESOLVED).endsWith(Kind.COMPLETED);
    }

    @Test
    void beginningAnewRemovesTheEventsOfTheOperationBefore() {
        ClaimRequest before = in(State.IN_DOUBT);
        inspector.resolve(before.id(), FAILURE, RETENTION, "olga");
        won("ann", "s", "another");
        release(won("ann", "s", "released"));
        DATABASE.letTimePass(RETENTION);
        assertThat(claim(again(before, "second"))).isEqualTo(new Claim.Won(1, 2, null));

        assertThat(DATABASE.query("SELECT string_agg(kind, ' ' ORDER BY at) FROM hapax_event"))
                .isEqualTo("RELEASED BEGUN_ANEW");
    }

    @Test
    void aForceReleasedOwnerHasLostItsClaim() {
        ClaimRequest owner = won("ann", "s", "1");

        Snapshot now = inspector
                .forceRelease(owner.id(), tokenOf(owner), "olga", "it hangs")
                .orElseThrow();

        assertThat(now.state()).isEqualTo(State.PENDING);
        assertThat(finish(owner, RESULT)).isEqualTo(Written.CLAIM_LOST);
        assertThat(release(owner)).isEqualTo(Written.CLAIM_LOST);
        assertThat(await(STORE.renew(List.of(new Renewal(owner.id(), owner.token(), LEASE)))))
                .containsExactly(RenewalStatus.LOST);
        assertThat(claim(again(owner, "second"))).isEqualTo(new Claim.Won(2));
        assertThat(finish(owner, RESULT)).isEqualTo(Written.CLAIM_LOST);
    }

    @Test
    void anOperationInDoubtCanBeReleased() {
        ClaimRequest owner = in(State.IN_DOUBT);
        assertThat(claim(again(owner, "second"))).isEqualTo(new Claim.InDoubt());

        assertThat(inspector.forceRelease(owner.id(), tokenOf(owner), "olga", "it had not begun"))
                .map(Snapshot::state)
                .contains(State.PENDING);
        assertThat(claim(again(owner, "second"))).isEqualTo(new Claim.Won(2));
    }

    /** With one attempt in all, an operator's release must run and not be parked again. */
    @Test
    void whatAnOperatorReleasesMayRunAlthoughItsAttemptsWereExhausted() {
        ClaimTerms once = new ClaimTerms(LEASE, RETENTION, WhenAbandoned.PARK, 1);
        ClaimRequest owner = ClaimRequest.of(request("ann", "s", "1").key(), Fingerprint.NONE, "worker", once);
        claim(owner);
        DATABASE.letTimePass(LEASE);
        assertThat(claim(ClaimRequest.of(owner.key(), Fingerprint.NONE, "second", once)))
                .isInstanceOf(Claim.InDoubt.class);
        inspector.forceRelease(owner.id(), tokenOf(owner), "olga", "the bank never saw it");

        assertThat(claim(ClaimRequest.of(owner.key(), Fingerprint.NONE, "third", once)))
                .isEqualTo(new Claim.Won(2));
    }

    @Test
    void releaseSentTwiceDoesNotRevokeTheNextOwner() {
        ClaimRequest owner = won("ann", "s", "1");
        UUID seen = tokenOf(owner);
        inspector.forceRelease(owner.id(), seen, "olga", "it hangs");
        ClaimRequest successor = again(owner, "second");
        claim(successor);

        assertThat(inspector.forceRelease(owner.id(), seen, "olga", "it hangs")).isEmpty();
        assertThat(finish(successor, RESULT)).isEqualTo(Written.RECORDED);
    }

    /** A policy with a window must not run again what a person said is to be kept. */
    @Test
    void resolvedOperationIsKeptAsLongAsThePersonSaid() {
        ClaimTerms windowed = new ClaimTerms(LEASE, RETENTION, WhenAbandoned.PARK, 3, Duration.ofSeconds(1));
        ClaimRequest owner = ClaimRequest.of(request("ann", "s", "1").key(), Fingerprint.NONE, "worker", windowed);
        claim(owner);
        DATABASE.letTimePass(LEASE);
        claim(again(owner, "second"));
        inspector.resolve(owner.id(), RESULT, RETENTION.multipliedBy(7), "olga");
        DATABASE.letTimePass(RETENTION.multipliedBy(3));

        assertThat(claim(again(owner, "third"))).isInstanceOf(Claim.Replay.class);
    }

    private UUID tokenOf(ClaimRequest owner) {
        return Objects.requireNonNull(await(STORE.find(Set.of(owner.id()))).get(owner.id()))
                .token();
    }

    @Test
    void whatIsNotHeldCannotBeReleased() {
        for (State state : List.of(State.PENDING, State.COMPLETED, State.FAILED)) {
            ClaimRequest owner = in(state);

            assertThat(inspector.forceRelease(owner.id(), tokenOf(owner), "olga", "why not"))
                    .isEmpty();
            assertThat(inspector.search(Search.everything().states(state))).hasSize(1);
            assertThat(kinds(owner)).doesNotContain(Kind.FORCE_RELEASED);
        }
        assertThat(inspector.forceRelease(request("", "s", "unknown").id(), UUID.randomUUID(), "olga", "why not"))
                .isEmpty();
    }

    @Test
    void aRetryReplaysWhatAnOperatorFoundOut() {
        for (Result result : List.of(RESULT, FAILURE, Result.notStored(200, "seen at the bank"))) {
            DATABASE.execute("TRUNCATE hapax_operation, hapax_event");
            ClaimRequest owner = in(State.IN_DOUBT);

            Optional<Snapshot> now = inspector.resolve(owner.id(), result, RETENTION, "olga");

            assertThat(now).map(Snapshot::result).contains(result);
            assertThat(claim(again(owner, "second")))
                    .isInstanceOfSatisfying(
                            Claim.Replay.class,
                            replay -> assertThat(replay.result()).isEqualTo(result));
            assertThat(finish(owner, RESULT)).isEqualTo(Written.CLAIM_LOST);
        }
    }

    @Test
    void aResolvedOperationIsKeptForItsRetention() {
        ClaimRequest owner = in(State.IN_DOUBT);
        inspector.resolve(owner.id(), RESULT, Duration.ofMinutes(5), "olga");
        DATABASE.letTimePass(Duration.ofMinutes(5));

        assertThat(claim(again(owner, "second"))).isEqualTo(new Claim.Won(1, 2, null));
    }

    @Test
    void onlyWhatIsInDoubtCanBeResolved() {
        for (State state : List.of(State.PENDING, State.PROCESSING, State.COMPLETED, State.FAILED)) {
            assertThat(inspector.resolve(in(state).id(), RESULT, RETENTION, "olga"))
                    .isEmpty();
        }
        assertThat(inspector.resolve(request("", "s", "unknown").id(), RESULT, RETENTION, "olga"))
                .isEmpty();
    }

    @Test
    void textsOfAnOperatorMayHoldAnything() {
        ClaimRequest owner = won("ann", "s", "1");

        inspector.forceRelease(owner.id(), tokenOf(owner), "ol\0ga", "it's \0 \uD83D\uDE00");

        assertThat(last(owner).actor()).isEqualTo("ol\uFFFDga");
        assertThat(last(owner).detail()).isEqualTo("it's \uFFFD \uD83D\uDE00");
    }

    private static void fill(TestDatabase database, String key, int rows, State state, String deadline) {
        database.execute("""
                INSERT INTO hapax_operation (id, tenant, scope, key, state, fingerprint, token, attempt, owner,
                    when_abandoned, retention_ms, created_at, claimed_at, finished_at, deadline, code)
                SELECT gen_random_uuid(), '', 's', '%s' || n, %d, decode(repeat('00', 32), 'hex'), gen_random_uuid(), 1, 'worker', 2, 1000,
                    now() - interval '1 h' + n * interval '1 ms', now(), now(), %s, 0
                FROM generate_series(1, %d) n""".formatted(key, Rows.number(state), deadline, rows));
    }

    private static long scansOf(TestDatabase database, String column) {
        return database.queryLong(
                "SELECT %s FROM pg_stat_user_tables WHERE relname = 'hapax_operation'".formatted(column));
    }

    private static long readByDeadline(TestDatabase database) {
        return database.queryLong(
                "SELECT idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = 'hapax_operation_deadline'");
    }

    private List<String> keys(Search search) {
        return inspector.search(search).stream().map(found -> found.key().key()).toList();
    }

    private List<String> timeline(ClaimRequest request) {
        return inspector.timeline(request.id()).stream()
                .map(event -> "%s %d %s".formatted(event.kind(), event.attempt(), event.actor()))
                .toList();
    }

    private List<Kind> kinds(ClaimRequest request) {
        return inspector.timeline(request.id()).stream().map(Event::kind).toList();
    }

    private Event last(ClaimRequest request) {
        List<Event> events = inspector.timeline(request.id());
        return events.get(events.size() - 1);
    }

    private static ClaimRequest request(String tenant, String scope, String key) {
        return request(new OperationKey(tenant, scope, key), "worker", WhenAbandoned.RERUN);
    }

    private static ClaimRequest request(OperationKey key, String owner, WhenAbandoned whenAbandoned) {
        return ClaimRequest.of(key, Fingerprint.NONE, owner, new ClaimTerms(LEASE, RETENTION, whenAbandoned, 3));
    }

    private static ClaimRequest again(ClaimRequest first, String owner) {
        return request(first.key(), owner, first.terms().whenAbandoned());
    }

    private static ClaimRequest won(String tenant, String scope, String key) {
        return won(request(tenant, scope, key));
    }

    private static ClaimRequest won(ClaimRequest request) {
        assertThat(claim(request)).isEqualTo(new Claim.Won(1));
        return request;
    }

    /** An operation whose key is the name of its state. */
    private static ClaimRequest in(State state) {
        WhenAbandoned whenAbandoned = state == State.IN_DOUBT ? WhenAbandoned.PARK : WhenAbandoned.RERUN;
        ClaimRequest owner = won(request(new OperationKey("", "s", state.name()), "worker", whenAbandoned));
        switch (state) {
            case PENDING -> release(owner);
            case PROCESSING -> {}
            case COMPLETED -> finish(owner, RESULT);
            case FAILED -> finish(owner, FAILURE);
            case IN_DOUBT -> park(owner);
        }
        return owner;
    }

    private static void park(ClaimRequest owner) {
        DATABASE.execute("UPDATE hapax_operation SET deadline = deadline - interval '30 s' WHERE id = '%s'"
                .formatted(owner.id()));
        assertThat(sweep().parked()).isOne();
    }

    private static Claim claim(ClaimRequest request) {
        return await(STORE.claim(request));
    }

    private static Written finish(ClaimRequest owner, Result result) {
        return await(STORE.finish(new Finish(owner.id(), owner.token(), result, RETENTION)));
    }

    private static Written release(ClaimRequest owner) {
        return await(
                STORE.release(new Release(owner.id(), owner.token(), Release.Kind.TRY_AGAIN, RETENTION, "try again")));
    }

    private static Swept sweep() {
        return await(STORE.sweep(100));
    }

    private static <T> T await(CompletionStage<T> stage) {
        return stage.toCompletableFuture().join();
    }
}
