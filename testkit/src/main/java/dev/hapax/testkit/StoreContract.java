package dev.hapax.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.ClaimTerms;
import dev.hapax.store.ExpiredLease;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.Finish;
import dev.hapax.store.OperationId;
import dev.hapax.store.OperationKey;
import dev.hapax.store.Payload;
import dev.hapax.store.Recalled;
import dev.hapax.store.Release;
import dev.hapax.store.Renewal;
import dev.hapax.store.RenewalStatus;
import dev.hapax.store.Result;
import dev.hapax.store.Snapshot;
import dev.hapax.store.State;
import dev.hapax.store.Store;
import dev.hapax.store.Swept;
import dev.hapax.store.WhenAbandoned;
import dev.hapax.store.Written;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The contract of {@link Store}, as tests. A store passes when a subclass that gives it, and a way to let its time
 * pass, is green:
 *
 * <pre>{@code
 * class MyStoreTest extends StoreContract {
 *     @Override protected Store store() { return store; }
 *     @Override protected void letTimePass(Duration duration) { clock.advance(duration); }
 * }
 * }</pre>
 */
@SuppressWarnings("JUnit4TestNotRun") // JUnit Jupiter
public abstract class StoreContract {
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration RETENTION = Duration.ofHours(1);
    private static final Fingerprint REQUEST = Fingerprint.of(bytes("the request"));
    private static final Fingerprint OTHER_REQUEST = Fingerprint.of(bytes("another request"));
    private static final Result RESULT = Result.completed(Payload.of(bytes("the result")));

    /** The store under test: the same one during a test, and empty when it begins. */
    protected abstract Store store();

    /** Makes {@code duration} pass on the store's clock, for every operation in it. */
    protected abstract void letTimePass(Duration duration);

    @Test
    void theFirstClaimWins() {
        assertThat(claim(request())).isEqualTo(new Claim.Won(1));
    }

    @Test
    void aSecondClaimIsToldThatTheFirstOneRuns() {
        ClaimRequest first = won();

        assertThat(claim(again(first)))
                .isInstanceOfSatisfying(
                        Claim.Running.class,
                        running -> assertThat(running.remaining()).isPositive().isLessThanOrEqualTo(LEASE));
    }

    @Test
    void aClaimSentAgainWinsAgain() {
        ClaimRequest first = won();

        assertThat(claim(first)).isEqualTo(new Claim.Won(1));
    }

    /** Its answer may have been on its way for longer than the lease. */
    @Test
    void aClaimSentAgainHasItsLeaseFromTheBeginning() {
        ClaimRequest first = won();
        letTimePass(LEASE.plusSeconds(1));

        assertThat(claim(first)).isEqualTo(new Claim.Won(1));
        assertThat(claim(again(first))).isInstanceOf(Claim.Running.class);
        assertThat(finish(first, RESULT)).isEqualTo(Written.RECORDED);
    }

    @Test
    void claimsThatTravelTogetherAreEachDecidedOnTheirOwn() {
        ClaimRequest ended = won();
        finish(ended, RESULT);
        ClaimRequest running = won();
        ClaimRequest fresh = request();

        List<Claim> claims =
                store().claimAll(List.of(again(ended), fresh, again(running), again(fresh), other(ended))).stream()
                        .map(StoreContract::await)
                        .toList();

        assertThat(claims.get(0)).isInstanceOf(Claim.Replay.class);
        assertThat(claims.subList(1, 4)).filteredOn(claim -> isWon(claim, 1)).hasSize(1);
        assertThat(claims.get(2)).isInstanceOf(Claim.Running.class);
        assertThat(claims.get(4)).isEqualTo(new Claim.Mismatch());
        assertThat(store().claimAll(List.of())).isEmpty();
    }

    @Test
    void whatIsRecalledIsWhatAClaimWouldBeAnswered() {
        ClaimRequest first = won();
        assertThat(recall(first)).as("while it runs").isNull();
        finish(first, RESULT);
        claim(again(first));

        Recalled recalled = recall(first);
        if (recalled != null) { // a store need not remember anything
            assertThat(recalled.id()).isEqualTo(first.id());
            assertThat(recalled.replay().result()).isEqualTo(RESULT);
        }
        assertThat(recall(other(first))).as("of another request").isNull();
        letTimePass(RETENTION);
        assertThat(recall(first)).as("of one that is over").isNull();
    }

    private @Nullable Recalled recall(ClaimRequest request) {
        return store().recall(request.key(), request.fingerprint());
    }

    @Test
    void aReplaySaysHowLongItHolds() {
        ClaimRequest first = won();
        finish(first, RESULT);

        assertThat(claim(again(first)))
                .isInstanceOfSatisfying(
                        Claim.Replay.class,
                        replay -> assertThat(replay.kept().answersFor())
                                .isPositive()
                                .isLessThanOrEqualTo(RETENTION));
        ClaimTerms terms = new ClaimTerms(LEASE, RETENTION, WhenAbandoned.RERUN, 10, Duration.ofMinutes(10));
        ClaimRequest soonOver = again(request(), terms);
        claim(soonOver);
        finish(soonOver, RESULT);
        assertThat(claim(again(soonOver)))
                .isInstanceOfSatisfying(
                        Claim.Replay.class,
                        replay -> assertThat(replay.kept().answersFor())
                                .isPositive()
                                .isLessThanOrEqualTo(Duration.ofMinutes(10)));
    }

    @Test
    void blockingCallersAndOthersShareOperations() {
        ClaimRequest first = request();
        assertThat(await(store().forBlockingCallers().claim(first))).isEqualTo(new Claim.Won(1));

        assertThat(claim(again(first))).isInstanceOf(Claim.Running.class);
        assertThat(finish(first, RESULT)).isEqualTo(Written.RECORDED);
        assertThat(await(store().forBlockingCallers().claim(again(first)))).isInstanceOf(Claim.Replay.class);
    }

    @Test
    void exactlyOneOfManyConcurrentClaimsWins() throws Exception {
        for (int round = 0; round < 20; round++) {
            ClaimRequest request = request();
            List<Claim> claims = AtOnce.call(16, () -> claim(again(request)));

            assertThat(claims).filteredOn(Claim.Won.class::isInstance).hasSize(1);
            assertThat(claims).filteredOn(Claim.Running.class::isInstance).hasSize(15);
        }
    }

    @Test
    void exactlyOneOfManyConcurrentClaimsTakesAReleasedOperation() throws Exception {
        for (int round = 0; round < 20; round++) {
            ClaimRequest first = won();
            release(first);
            List<Claim> claims = AtOnce.call(16, () -> claim(again(first)));

            assertThat(claims).filteredOn(claim -> isWon(claim, 2)).hasSize(1);
            assertThat(claims).filteredOn(Claim.Running.class::isInstance).hasSize(15);
        }
    }

    @Test
    void exactlyOneOfManyConcurrentClaimsTakesAnAbandonedOperation() throws Exception {
        for (int round = 0; round < 20; round++) {
            ClaimRequest first = won();
            letTimePass(LEASE);
            List<Claim> claims = AtOnce.call(16, () -> claim(again(first)));

            assertThat(claims).filteredOn(claim -> isWon(claim, 2)).hasSize(1);
            assertThat(claims).filteredOn(Claim.Running.class::isInstance).hasSize(15);
        }
    }

    @Test
    void exactlyOneOfManyConcurrentClaimsBeginsAnExpiredOperationAnew() throws Exception {
        for (int round = 0; round < 20; round++) {
            ClaimRequest first = won();
            finish(first, RESULT);
            letTimePass(RETENTION);
            List<Claim> claims = AtOnce.call(16, () -> claim(again(first)));

            assertThat(claims).filteredOn(claim -> isWon(claim, 1)).hasSize(1);
            assertThat(claims).filteredOn(Claim.Running.class::isInstance).hasSize(15);
        }
    }

    @Test
    void aStoredResultIsReplayedByteForByte() {
        byte[] everyByte = new byte[256];
        for (int i = 0; i < everyByte.length; i++) {
            everyByte[i] = (byte) i;
        }
        byte[] megabyte = new byte[1 << 20];
        new Random(7).nextBytes(megabyte);
        for (byte[] body : List.of(new byte[0], new byte[1], everyByte, megabyte)) {
            ClaimRequest first = won();
            Result result = Result.completed(new Payload(201, everyByte, body));

            assertThat(finish(first, result)).isEqualTo(Written.RECORDED);
            assertThat(claim(again(first)))
                    .isInstanceOfSatisfying(
                            Claim.Replay.class,
                            replay -> assertThat(replay.result()).isEqualTo(result));
        }
    }

    @Test
    void aFailureIsReplayed() {
        ClaimRequest first = won();
        Result failure = Result.failed(402, "the card was declined");
        finish(first, failure);

        assertThat(claim(again(first)))
                .isInstanceOfSatisfying(
                        Claim.Replay.class,
                        replay -> assertThat(replay.result()).isEqualTo(failure));
    }

    @Test
    void anErrorMayHoldAnyCharacter() {
        ClaimRequest first = won();

        assertThat(finish(first, Result.failed(0, "nul \0, quote ', emoji \uD83D\uDE80, lone \uD83D surrogate")))
                .isEqualTo(Written.RECORDED);
        assertThat(claim(again(first))).isInstanceOf(Claim.Replay.class);
    }

    @Test
    void aResultThatWasNotKeptLeavesATombstone() {
        ClaimRequest first = won();
        Result tombstone = Result.notStored(200, "too large");
        finish(first, tombstone);

        assertThat(claim(again(first)))
                .isInstanceOfSatisfying(
                        Claim.Replay.class,
                        replay -> assertThat(replay.result()).isEqualTo(tombstone));
    }

    @Test
    void aFinishSentAgainIsRecordedAgain() {
        ClaimRequest first = won();
        finish(first, RESULT);

        assertThat(finish(first, RESULT)).isEqualTo(Written.RECORDED);
    }

    @Test
    void aStoredResultIsNeverReplaced() {
        ClaimRequest first = won();
        finish(first, RESULT);
        finish(first, Result.completed(Payload.of(bytes("another result"))));
        release(first);

        assertThat(claim(again(first)))
                .isInstanceOfSatisfying(
                        Claim.Replay.class,
                        replay -> assertThat(replay.result()).isEqualTo(RESULT));
    }

    @Test
    void theSameKeyWithAnotherRequestIsAMismatchInEveryState() {
        for (State state : State.values()) {
            ClaimRequest first = in(state);

            assertThat(claim(other(first))).as("in %s", state).isEqualTo(new Claim.Mismatch());
            assertThat(find(first).state()).isEqualTo(state);
        }
    }

    @Test
    void theSameKeyWithAnotherRequestIsAMismatchAfterTheLease() {
        ClaimRequest first = won();
        letTimePass(LEASE);

        assertThat(claim(other(first))).isEqualTo(new Claim.Mismatch());
    }

    @Test
    void anotherTenantAndAnotherScopeAreOtherOperations() {
        OperationKey key = won().key();

        assertThat(claim(request(new OperationKey("another tenant", key.scope(), key.key()))))
                .isEqualTo(new Claim.Won(1));
        assertThat(claim(request(new OperationKey(key.tenant(), "another", key.key()))))
                .isEqualTo(new Claim.Won(1));
    }

    @Test
    void anAbandonedOperationIsTakenOverWithTheNextAttempt() {
        ClaimRequest first = won();
        letTimePass(LEASE);

        assertThat(isWon(claim(again(first)), 2)).isTrue();
    }

    @Test
    void aRenewedLeaseDoesNotRunOut() {
        ClaimRequest first = won();
        letTimePass(LEASE.dividedBy(2));
        assertThat(renew(first)).isEqualTo(RenewalStatus.RENEWED);
        letTimePass(LEASE.dividedBy(2).plusSeconds(1));

        assertThat(claim(again(first))).isInstanceOf(Claim.Running.class);
    }

    @Test
    void anOwnerMayFinishAfterItsLeaseIfNobodyCame() {
        ClaimRequest first = won();
        letTimePass(LEASE);

        assertThat(finish(first, RESULT)).isEqualTo(Written.RECORDED);
    }

    @Test
    void anOwnerMayRenewAfterItsLeaseIfNobodyCame() {
        ClaimRequest first = won();
        letTimePass(LEASE);

        assertThat(renew(first)).isEqualTo(RenewalStatus.RENEWED);
        assertThat(claim(again(first))).isInstanceOf(Claim.Running.class);
    }

    @Test
    void aStaleOwnerCannotFinishRenewOrRelease() {
        ClaimRequest stale = won();
        letTimePass(LEASE);
        ClaimRequest successor = again(stale);
        claim(successor);

        assertThat(finish(stale, RESULT)).isEqualTo(Written.CLAIM_LOST);
        assertThat(renew(stale)).isEqualTo(RenewalStatus.LOST);
        assertThat(release(stale)).isEqualTo(Written.CLAIM_LOST);
        assertThat(find(stale).state()).isEqualTo(State.PROCESSING);
        assertThat(find(stale).token()).isEqualTo(successor.token());
    }

    @Test
    void aStaleOwnerCannotOverwriteItsSuccessorsResult() {
        ClaimRequest stale = won();
        letTimePass(LEASE);
        ClaimRequest successor = again(stale);
        claim(successor);
        finish(successor, RESULT);

        assertThat(finish(stale, Result.failed(500, "from the grave"))).isEqualTo(Written.CLAIM_LOST);
        assertThat(claim(again(stale)))
                .isInstanceOfSatisfying(
                        Claim.Replay.class,
                        replay -> assertThat(replay.result()).isEqualTo(RESULT));
    }

    @Test
    void anOwnerThatWasSweptIsStale() {
        for (WhenAbandoned policy : WhenAbandoned.values()) {
            ClaimRequest stale = won(policy);
            letTimePass(LEASE);
            sweepAll();

            assertThat(finish(stale, RESULT)).as("finish, %s", policy).isEqualTo(Written.CLAIM_LOST);
            assertThat(release(stale)).as("release, %s", policy).isEqualTo(Written.CLAIM_LOST);
            assertThat(renew(stale)).as("renew, %s", policy).isEqualTo(RenewalStatus.LOST);
        }
    }

    @Test
    void anOwnerWhoseOperationWasEndedByAClaimIsStale() {
        for (WhenAbandoned policy : List.of(WhenAbandoned.FAIL, WhenAbandoned.PARK)) {
            ClaimRequest stale = won(policy);
            letTimePass(LEASE);
            claim(again(stale));

            assertThat(finish(stale, RESULT)).as("%s", policy).isEqualTo(Written.CLAIM_LOST);
        }
    }

    @Test
    void nobodyFinishesWhatIsNotThere() {
        ClaimRequest unknown = request();

        assertThat(finish(unknown, RESULT)).isEqualTo(Written.CLAIM_LOST);
        assertThat(release(unknown)).isEqualTo(Written.CLAIM_LOST);
        assertThat(renew(unknown)).isEqualTo(RenewalStatus.LOST);
    }

    @Test
    void aReleasedOperationIsClaimableAtOnceWithTheNextAttempt() {
        ClaimRequest first = won();

        assertThat(release(first)).isEqualTo(Written.RECORDED);
        assertThat(find(first).state()).isEqualTo(State.PENDING);
        assertThat(isWon(claim(again(first)), 2)).isTrue();
    }

    @Test
    void aReleaseSentAgainIsRecordedAgain() {
        ClaimRequest first = won();
        release(first);

        assertThat(release(first)).isEqualTo(Written.RECORDED);
    }

    @Test
    void aReleaseOfWhatNeverBeganDoesNotCountAsAnAttemptHoweverOftenItIsSent() {
        ClaimRequest first = won();

        assertThat(release(first, Release.Kind.NOT_BEGUN)).isEqualTo(Written.RECORDED);
        assertThat(release(first, Release.Kind.NOT_BEGUN)).isEqualTo(Written.RECORDED);
        assertThat(find(first).state()).isEqualTo(State.PENDING);
        assertThat(claim(again(first))).isEqualTo(new Claim.Won(1));
    }

    @Test
    void whoReleasedCannotFinish() {
        ClaimRequest first = won();
        release(first);

        assertThat(finish(first, RESULT)).isEqualTo(Written.CLAIM_LOST);
        assertThat(renew(first)).isEqualTo(RenewalStatus.UNKNOWN);
    }

    @Test
    void anOperationLeftInDoubtStaysThereAndItsOwnerHasNoSayAnyMore() {
        ClaimRequest first = won();

        assertThat(leaveInDoubt(first)).isEqualTo(Written.RECORDED);
        assertThat(leaveInDoubt(first)).isEqualTo(Written.RECORDED);
        assertThat(release(first)).isEqualTo(Written.CLAIM_LOST);
        assertThat(finish(first, RESULT)).isEqualTo(Written.CLAIM_LOST);
        assertThat(renew(first)).isEqualTo(RenewalStatus.UNKNOWN);
        letTimePass(RETENTION.multipliedBy(10));
        sweepAll();
        assertThat(claim(again(first))).isInstanceOf(Claim.InDoubt.class);
    }

    @Test
    void aStaleOwnerCannotLeaveAnOperationInDoubt() {
        ClaimRequest first = won();
        letTimePass(LEASE);
        ClaimRequest second = again(first);
        claim(second);

        assertThat(leaveInDoubt(first)).isEqualTo(Written.CLAIM_LOST);
        assertThat(finish(second, RESULT)).isEqualTo(Written.RECORDED);
    }

    @Test
    void aClaimAfterItsWindowBeginsANewOperation() {
        Duration window = Duration.ofSeconds(10);
        ClaimTerms terms = new ClaimTerms(LEASE, RETENTION, WhenAbandoned.RERUN, 3, window);
        ClaimRequest first = again(request(), terms);
        claim(first);
        letTimePass(window.multipliedBy(2));
        finish(first, RESULT);

        letTimePass(window.minusSeconds(5));
        assertThat(claim(again(first)))
                .isInstanceOfSatisfying(
                        Claim.Replay.class,
                        replay -> assertThat(replay.result()).isEqualTo(RESULT));
        letTimePass(Duration.ofSeconds(5));
        assertThat(find(first).result()).isEqualTo(RESULT);
        assertThat(isWon(claim(again(first)), 1)).isTrue();
        assertThat(claim(again(first))).isInstanceOf(Claim.Running.class);
    }

    /** A policy that was changed since must not run a recorded success again. */
    @Test
    void storedResultOutlivesAShorterPolicy() {
        ClaimRequest first = won();
        finish(first, RESULT);
        letTimePass(RETENTION.dividedBy(2));
        Duration shorter = RETENTION.dividedBy(10);

        assertThat(claim(again(first, new ClaimTerms(LEASE, shorter, WhenAbandoned.RERUN, 3))))
                .isInstanceOf(Claim.Replay.class);
        assertThat(claim(again(first, new ClaimTerms(LEASE, RETENTION, WhenAbandoned.RERUN, 3, shorter))))
                .isInstanceOf(Claim.Replay.class);
    }

    @Test
    void newOperationUnderAnOldIdIsTheNextGeneration() {
        ClaimTerms terms = new ClaimTerms(LEASE, RETENTION, WhenAbandoned.RERUN, 3, Duration.ofSeconds(10));
        ClaimRequest first = again(request(), terms);
        assertThat(claim(first)).isEqualTo(new Claim.Won(1, 1, null));
        finish(first, RESULT);
        letTimePass(Duration.ofSeconds(10));
        ClaimRequest second = again(first);
        assertThat(claim(second)).as("after its window").isEqualTo(new Claim.Won(1, 2, null));
        release(second);
        ClaimRequest retry = again(first);
        assertThat(claim(retry)).as("a retry").isEqualTo(new Claim.Won(2, 2, null));
        finish(retry, RESULT);
        letTimePass(RETENTION);

        ClaimRequest third = again(first);
        assertThat(claim(third)).as("after its retention").isEqualTo(new Claim.Won(1, 3, null));
        assertThat(claim(third)).as("sent again").isEqualTo(new Claim.Won(1, 3, null));
    }

    @Test
    void claimThatFindsAnExpiredLeaseSaysWhoseItWas() {
        ClaimRequest rerun = won(WhenAbandoned.RERUN);
        ClaimRequest fail = won(WhenAbandoned.FAIL);
        ClaimRequest park = won(WhenAbandoned.PARK);
        letTimePass(LEASE);

        for (ClaimRequest abandoned : List.of(rerun, fail, park)) {
            assertThat(claim(again(abandoned)).expiredLease()).isEqualTo(expiredLease(abandoned));
            assertThat(claim(again(abandoned)).expiredLease())
                    .as("the second claim")
                    .isNull();
        }
    }

    @Test
    void retryAfterAReleaseIsNoTakeOver() {
        ClaimRequest first = won();
        release(first);

        assertThat(claim(again(first))).isEqualTo(new Claim.Won(2, 1, null));
    }

    /** A copy of it may have been on its way when its claimer gave it back: nobody would run what it wins. */
    @Test
    void claimThatWasGivenBackDoesNotWinAgain() {
        ClaimRequest first = won();
        release(first, Release.Kind.NOT_BEGUN);

        assertThat(claim(first)).isInstanceOf(Claim.Running.class);
        assertThat(claim(again(first))).isEqualTo(new Claim.Won(1));
    }

    private static ExpiredLease expiredLease(ClaimRequest owner) {
        return new ExpiredLease(owner.id(), owner.key(), 1, owner.owner());
    }

    @Test
    void exactlyOneOfManyConcurrentClaimsAfterTheWindowWins() throws Exception {
        ClaimTerms terms = new ClaimTerms(LEASE, RETENTION, WhenAbandoned.RERUN, 3, Duration.ofSeconds(10));
        ClaimRequest first = again(request(), terms);
        claim(first);
        finish(first, RESULT);
        letTimePass(Duration.ofSeconds(10));

        assertThat(AtOnce.call(16, () -> claim(again(first))))
                .filteredOn(claim -> isWon(claim, 1))
                .hasSize(1);
    }

    @Test
    void anAbandonedOperationFailsWhereThePolicySaysSo() {
        ClaimRequest first = won(WhenAbandoned.FAIL);
        letTimePass(LEASE);

        assertThat(claim(again(first)))
                .isInstanceOfSatisfying(
                        Claim.Replay.class,
                        replay -> assertThat(replay.result()).isEqualTo(Result.abandoned()));
        assertThat(claim(again(first)))
                .isInstanceOfSatisfying(
                        Claim.Replay.class,
                        replay -> assertThat(replay.result()).isEqualTo(Result.abandoned()));
    }

    @Test
    void anAbandonedOperationIsParkedWhereThePolicySaysSo() {
        ClaimRequest first = won(WhenAbandoned.PARK);
        letTimePass(LEASE);

        assertThat(claim(again(first))).isInstanceOf(Claim.InDoubt.class);
        letTimePass(RETENTION.multipliedBy(10));
        sweepAll();
        assertThat(claim(again(first))).isInstanceOf(Claim.InDoubt.class);
    }

    @Test
    void thePolicyOfWhoClaimedItDecidesWhatBecomesOfIt() {
        ClaimRequest first = won(WhenAbandoned.PARK);
        letTimePass(LEASE);

        assertThat(claim(again(first, terms(WhenAbandoned.RERUN)))).isInstanceOf(Claim.InDoubt.class);
    }

    @Test
    void poisonEndsAfterItsAttempts() {
        ClaimRequest first = won();
        for (int attempt = 2; attempt <= 3; attempt++) {
            letTimePass(LEASE);
            assertThat(isWon(claim(again(first)), attempt)).isTrue();
        }
        letTimePass(LEASE);

        assertThat(claim(again(first)))
                .isInstanceOfSatisfying(
                        Claim.Replay.class,
                        replay -> assertThat(replay.result()).isEqualTo(Result.attemptsExhausted()));
    }

    @Test
    void poisonIsParkedWhereThePolicySaysSo() {
        ClaimRequest first = won(WhenAbandoned.PARK);
        for (int attempt = 2; attempt <= 3; attempt++) {
            release(first);
            first = again(first);
            assertThat(isWon(claim(first), attempt)).isTrue();
        }
        release(first);

        assertThat(claim(again(first))).isInstanceOf(Claim.InDoubt.class);
    }

    @Test
    void anExpiredOperationBeginsAnewWithAnotherRequest() {
        ClaimRequest first = won();
        finish(first, RESULT);
        letTimePass(RETENTION);
        ClaimRequest second = other(first);

        assertThat(find(first).expired()).isTrue();
        assertThat(isWon(claim(second), 1)).isTrue();
        assertThat(find(first).result()).isNull();
        assertThat(finish(second, RESULT)).isEqualTo(Written.RECORDED);
        assertThat(claim(again(second)))
                .isInstanceOfSatisfying(
                        Claim.Replay.class,
                        replay -> assertThat(replay.result()).isEqualTo(RESULT));
    }

    @Test
    void retentionCountsFromTheEndNotFromTheClaim() {
        ClaimRequest first = won();
        for (int i = 0; i < 3; i++) {
            letTimePass(LEASE.dividedBy(2));
            renew(first);
        }
        finish(first, RESULT);
        letTimePass(RETENTION.minusSeconds(5));

        assertThat(claim(again(first)))
                .isInstanceOfSatisfying(
                        Claim.Replay.class,
                        replay -> assertThat(replay.result()).isEqualTo(RESULT));
    }

    @Test
    void manyOperationsAreFoundInOneGoAndUnknownOnesAreNot() {
        ClaimRequest first = won();
        ClaimRequest second = won();
        OperationId unknown = request().id();

        Map<OperationId, Snapshot> found = await(store().find(Set.of(first.id(), second.id(), unknown)));

        assertThat(found).containsOnlyKeys(first.id(), second.id());
        assertThat(find(first).key()).isEqualTo(first.key());
        assertThat(find(first).owner()).isEqualTo(first.owner());
        assertThat(find(first).fingerprint()).isEqualTo(REQUEST);
        assertThat(find(first).running()).isTrue();
    }

    @Test
    void manyLeasesAreRenewedInOneGoEachOnItsOwn() {
        ClaimRequest kept = won();
        ClaimRequest ended = won();
        finish(ended, RESULT);
        ClaimRequest lost = request();

        assertThat(await(store().renew(List.of(renewal(kept), renewal(ended), renewal(lost)))))
                .containsExactly(RenewalStatus.RENEWED, RenewalStatus.UNKNOWN, RenewalStatus.LOST);
        assertThat(await(store().renew(List.of()))).isEmpty();
    }

    @Test
    void aSweepGivesEachStateWhatItIsDue() {
        ClaimRequest completed = in(State.COMPLETED);
        ClaimRequest failed = in(State.FAILED);
        ClaimRequest pending = in(State.PENDING);
        ClaimRequest rerun = won(WhenAbandoned.RERUN);
        ClaimRequest fail = won(WhenAbandoned.FAIL);
        ClaimRequest park = won(WhenAbandoned.PARK);
        letTimePass(RETENTION);

        Swept swept = sweepAll();
        assertThat(swept.removed()).isEqualTo(2);
        assertThat(swept.timedOut()).isEqualTo(1);
        assertThat(swept.reclaimed())
                .containsExactlyInAnyOrder(
                        new Swept.Reclaimed(expiredLease(rerun), State.PENDING),
                        new Swept.Reclaimed(expiredLease(fail), State.FAILED),
                        new Swept.Reclaimed(expiredLease(park), State.IN_DOUBT));
        assertThat(await(store().find(Set.of(completed.id(), failed.id())))).isEmpty();
        assertThat(find(pending).result()).isEqualTo(Result.timedOut());
        assertThat(find(rerun).state()).isEqualTo(State.PENDING);
        assertThat(find(fail).result()).isEqualTo(Result.abandoned());
        assertThat(find(park).state()).isEqualTo(State.IN_DOUBT);
    }

    @Test
    void aPendingOperationNobodyCameForStaysReadableForItsRetention() {
        ClaimRequest first = in(State.PENDING);
        letTimePass(RETENTION);
        sweepAll();
        letTimePass(RETENTION.minusSeconds(5));
        sweepAll();

        assertThat(claim(again(first)))
                .isInstanceOfSatisfying(
                        Claim.Replay.class,
                        replay -> assertThat(replay.result()).isEqualTo(Result.timedOut()));
        assertThat(Result.timedOut().code()).isEqualTo(408);
        letTimePass(Duration.ofSeconds(5));
        sweepAll();
        assertThat(await(store().find(Set.of(first.id())))).isEmpty();
    }

    @Test
    void aSweepLeavesWhatIsNotDue() {
        Map<State, ClaimRequest> all = new EnumMap<>(State.class);
        for (State state : State.values()) {
            all.put(state, in(state));
        }
        letTimePass(LEASE.dividedBy(2));
        sweepAll();

        all.forEach((state, request) -> assertThat(find(request).state()).isEqualTo(state));
    }

    @Test
    void operationsInFlightAreNeverRemoved() {
        ClaimRequest running = won();
        for (int i = 0; i < 5; i++) {
            letTimePass(RETENTION);
            renew(running);
            sweepAll();
        }

        assertThat(find(running).state()).isEqualTo(State.PROCESSING);
        assertThat(finish(running, RESULT)).isEqualTo(Written.RECORDED);
    }

    @Test
    void aSweepKeepsToItsLimit() {
        for (int i = 0; i < 5; i++) {
            in(State.COMPLETED);
        }
        letTimePass(RETENTION);

        assertThat(await(store().sweep(3)).total()).isEqualTo(3);
        assertThat(await(store().sweep(3)).total()).isEqualTo(2);
    }

    @Test
    void concurrentSweepsCountEachOperationOnce() throws Exception {
        for (int i = 0; i < 40; i++) {
            won();
            in(State.COMPLETED);
        }
        letTimePass(RETENTION);
        Swept swept = AtOnce.call(4, this::sweepAll).stream()
                .reduce(Swept.NOTHING, Swept::plus)
                .plus(sweepAll());

        assertThat(swept.removed()).isEqualTo(40);
        assertThat(swept.reopened()).isEqualTo(40);
        assertThat(swept.total()).isEqualTo(80);
    }

    @Test
    void claimsAndSweepsAtOnceLoseNothing() throws Exception {
        for (int round = 0; round < 10; round++) {
            ClaimRequest first = won();
            finish(first, RESULT);
            letTimePass(RETENTION);
            List<Callable<Claim>> both = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                both.add(() -> claim(again(first)));
                both.add(() -> {
                    sweepAll();
                    return new Claim.InDoubt();
                });
            }

            assertThat(AtOnce.callAll(both))
                    .filteredOn(claim -> isWon(claim, 1))
                    .hasSize(1);
        }
    }

    private static boolean isWon(Claim claim, int attempt) {
        return claim instanceof Claim.Won won && won.attempt() == attempt;
    }

    private ClaimRequest request() {
        return request(new OperationKey("tenant", "contract", UUID.randomUUID().toString()));
    }

    private static ClaimRequest request(OperationKey key) {
        return ClaimRequest.of(key, REQUEST, "the contract", terms(WhenAbandoned.RERUN));
    }

    private static ClaimTerms terms(WhenAbandoned whenAbandoned) {
        return new ClaimTerms(LEASE, RETENTION, whenAbandoned, 3);
    }

    private ClaimRequest won() {
        return won(WhenAbandoned.RERUN);
    }

    private ClaimRequest won(WhenAbandoned whenAbandoned) {
        ClaimRequest request = again(request(), terms(whenAbandoned));
        assertThat(claim(request)).isEqualTo(new Claim.Won(1));
        return request;
    }

    private ClaimRequest in(State state) {
        ClaimRequest request = won(state == State.IN_DOUBT ? WhenAbandoned.PARK : WhenAbandoned.RERUN);
        switch (state) {
            case PENDING -> release(request);
            case PROCESSING -> {}
            case COMPLETED -> finish(request, RESULT);
            case FAILED -> finish(request, Result.failed(402, "declined"));
            case IN_DOUBT -> {
                letTimePass(LEASE);
                claim(again(request));
                letTimePass(LEASE.negated());
            }
        }
        return request;
    }

    /** The same request by another caller. */
    private static ClaimRequest again(ClaimRequest first) {
        return again(first, first.terms());
    }

    private static ClaimRequest again(ClaimRequest first, ClaimTerms terms) {
        return ClaimRequest.of(first.key(), first.fingerprint(), "somebody else", terms);
    }

    private static ClaimRequest other(ClaimRequest first) {
        return ClaimRequest.of(first.key(), OTHER_REQUEST, "somebody else", first.terms());
    }

    private static Renewal renewal(ClaimRequest owner) {
        return new Renewal(owner.id(), owner.token(), LEASE);
    }

    private Claim claim(ClaimRequest request) {
        return await(store().claim(request));
    }

    private Written finish(ClaimRequest owner, Result result) {
        return await(store().finish(new Finish(owner.id(), owner.token(), result, RETENTION)));
    }

    private Written release(ClaimRequest owner) {
        return release(owner, Release.Kind.TRY_AGAIN);
    }

    private Written leaveInDoubt(ClaimRequest owner) {
        return release(owner, Release.Kind.IN_DOUBT);
    }

    private Written release(ClaimRequest owner, Release.Kind kind) {
        return await(store().release(new Release(owner.id(), owner.token(), kind, RETENTION, "for the contract")));
    }

    private RenewalStatus renew(ClaimRequest owner) {
        return await(store().renew(List.of(renewal(owner)))).get(0);
    }

    private Snapshot find(ClaimRequest request) {
        Snapshot found = await(store().find(Set.of(request.id()))).get(request.id());
        return Objects.requireNonNull(found, "the operation is not there");
    }

    private Swept sweepAll() {
        Swept swept = Swept.NOTHING;
        Swept round;
        do {
            round = await(store().sweep(1_000));
            swept = swept.plus(round);
        } while (round.total() > 0);
        return swept;
    }

    private static <T> T await(CompletionStage<T> stage) {
        return stage.toCompletableFuture().join();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
