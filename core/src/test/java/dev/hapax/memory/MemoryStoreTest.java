package dev.hapax.memory;

import static org.assertj.core.api.Assertions.assertThat;

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
import dev.hapax.store.Swept;
import dev.hapax.store.WhenAbandoned;
import dev.hapax.store.Written;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class MemoryStoreTest {
    private static final OperationKey KEY = new OperationKey("t", "s", "k");
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration RETENTION = Duration.ofHours(1);
    private static final Result RESULT = Result.completed(Payload.of(new byte[] {1}));

    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.EPOCH);
    private final MemoryStore store = new MemoryStore(now::get);

    @Test
    void theSameClaimWinsAgain() {
        ClaimRequest claim = claim(WhenAbandoned.RERUN);

        assertThat(get(store.claim(claim))).isEqualTo(new Claim.Won(1));
        assertThat(get(store.claim(claim))).isEqualTo(new Claim.Won(1));
    }

    @Test
    void theSameFinishIsRecordedAgain() {
        ClaimRequest owner = won(WhenAbandoned.RERUN);

        assertThat(finish(owner, RESULT)).isEqualTo(Written.RECORDED);
        assertThat(finish(owner, RESULT)).isEqualTo(Written.RECORDED);
    }

    @Test
    void theSameReleaseIsRecordedAgain() {
        ClaimRequest owner = won(WhenAbandoned.RERUN);

        assertThat(release(owner)).isEqualTo(Written.RECORDED);
        assertThat(release(owner)).isEqualTo(Written.RECORDED);
    }

    @Test
    void aResultIsNeverReplaced() {
        ClaimRequest owner = won(WhenAbandoned.RERUN);
        finish(owner, RESULT);
        finish(owner, Result.failed(500, "other"));

        assertThat(found().result()).isEqualTo(RESULT);
    }

    @Test
    void staleOwnerCannotComplete() {
        ClaimRequest stale = overtaken();

        assertThat(finish(stale, RESULT)).isEqualTo(Written.CLAIM_LOST);
        assertThat(found().state()).isEqualTo(State.PROCESSING);
    }

    @Test
    void staleOwnerCannotRelease() {
        ClaimRequest stale = overtaken();

        assertThat(release(stale)).isEqualTo(Written.CLAIM_LOST);
        assertThat(found().state()).isEqualTo(State.PROCESSING);
    }

    @Test
    void staleOwnerCannotRenew() {
        ClaimRequest stale = overtaken();
        Instant deadline = found().times().deadline();

        assertThat(renew(stale)).isEqualTo(RenewalStatus.LOST);
        assertThat(found().times().deadline()).isEqualTo(deadline);
    }

    @Test
    void aReleasedClaimCannotComplete() {
        ClaimRequest owner = won(WhenAbandoned.RERUN);
        release(owner);

        assertThat(finish(owner, RESULT)).isEqualTo(Written.CLAIM_LOST);
    }

    @Test
    void aRenewedLeaseLastsFromNow() {
        ClaimRequest owner = won(WhenAbandoned.RERUN);
        advance(LEASE.minusNanos(1));

        assertThat(renew(owner)).isEqualTo(RenewalStatus.RENEWED);
        advance(LEASE.minusNanos(1));
        assertThat(found().running()).isTrue();
    }

    @Test
    void sweepingFailsWhatWasAbandonedUnderFail() {
        won(WhenAbandoned.FAIL);
        advance(LEASE);

        assertThat(get(store.sweep(10)).failed()).isEqualTo(1);
        assertThat(found().result()).isEqualTo(Result.abandoned());
    }

    @Test
    void sweepingParksWhatWasAbandonedUnderPark() {
        won(WhenAbandoned.PARK);
        advance(LEASE);

        assertThat(get(store.sweep(10)).parked()).isEqualTo(1);
        assertThat(found().state()).isEqualTo(State.IN_DOUBT);
    }

    @Test
    void whatIsParkedIsNeverSwept() {
        won(WhenAbandoned.PARK);
        advance(LEASE);
        get(store.sweep(10));
        advance(Duration.ofDays(10_000));

        assertThat(get(store.sweep(10))).isEqualTo(Swept.NOTHING);
    }

    @Test
    void aPendingOperationThatNobodyCameForTimesOut() {
        release(won(WhenAbandoned.RERUN));
        advance(RETENTION);

        assertThat(get(store.sweep(10))).isEqualTo(new Swept(0, 1, List.of()));
        assertThat(found().result()).isEqualTo(Result.timedOut());
    }

    @Test
    void aSweptOwnerIsStale() {
        ClaimRequest owner = won(WhenAbandoned.RERUN);
        advance(LEASE);
        get(store.sweep(10));

        assertThat(finish(owner, RESULT)).isEqualTo(Written.CLAIM_LOST);
    }

    @Test
    void whatIsNotThereIsNotFound() {
        assertThat(get(store.find(List.of(KEY.id())))).isEmpty();
    }

    private ClaimRequest overtaken() {
        ClaimRequest stale = won(WhenAbandoned.RERUN);
        advance(LEASE);
        won(WhenAbandoned.RERUN);
        return stale;
    }

    private ClaimRequest won(WhenAbandoned whenAbandoned) {
        ClaimRequest claim = claim(whenAbandoned);
        assertThat(get(store.claim(claim))).isInstanceOf(Claim.Won.class);
        return claim;
    }

    private static ClaimRequest claim(WhenAbandoned whenAbandoned) {
        return ClaimRequest.of(KEY, Fingerprint.NONE, "owner", new ClaimTerms(LEASE, RETENTION, whenAbandoned, 3));
    }

    private Written finish(ClaimRequest owner, Result result) {
        return get(store.finish(new Finish(owner.id(), owner.token(), result, RETENTION)));
    }

    private Written release(ClaimRequest owner) {
        return get(store.release(new Release(owner.id(), owner.token(), Release.Kind.TRY_AGAIN, RETENTION, "test")));
    }

    private RenewalStatus renew(ClaimRequest owner) {
        return get(store.renew(List.of(new Renewal(owner.id(), owner.token(), LEASE))))
                .get(0);
    }

    private Snapshot found() {
        return get(store.find(List.of(KEY.id()))).get(KEY.id());
    }

    private void advance(Duration by) {
        now.updateAndGet(instant -> instant.plus(by));
    }

    private static <T> T get(CompletionStage<T> stage) {
        return stage.toCompletableFuture().join();
    }
}
