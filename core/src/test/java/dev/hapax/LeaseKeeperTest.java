package dev.hapax;

import static dev.hapax.World.call;
import static dev.hapax.World.executed;
import static dev.hapax.World.keyed;
import static dev.hapax.World.mustNotRun;
import static dev.hapax.World.replayed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.hapax.FaultyStore.Op;
import dev.hapax.memory.MemoryStore;
import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.Finish;
import dev.hapax.store.OperationKey;
import dev.hapax.store.RenewalStatus;
import dev.hapax.store.Result;
import dev.hapax.store.State;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LeaseKeeperTest {
    private static final Duration LEASE = Duration.ofMillis(900);
    private static final Policy POLICY = Policy.defaults().lease(LEASE);
    private static final Policy CAPPED = POLICY.maxDuration(LEASE);
    private final ManualScheduler scheduler = new ManualScheduler();
    private final SlowHandler handler = new SlowHandler();
    private World world = World.ticking();

    @AfterEach
    void close() {
        handler.endWith("closed");
        world.close();
    }

    /** Trap 6. */
    @Test
    void aLeaseLastsAsLongAsTheHandlerRuns() {
        Caller<Outcome<String>> running = start(world.node(POLICY));
        await().until(() -> world.store.calls(Op.RENEW) >= 5);

        assertThat(handler.lease().isLost()).isFalse();
        assertThat(call(world.node(POLICY)).run(mustNotRun())).isInstanceOf(Outcome.InProgress.class);
        handler.endWith("receipt");
        assertThat(executed(running.result()).recorded()).isTrue();
    }

    @Test
    void aFinishedHandlerIsNoLongerRenewed() {
        Hapax hapax = world.node(POLICY);
        call(hapax).run(lease -> "receipt");

        await().during(LEASE.dividedBy(2)).until(() -> world.store.calls(Op.RENEW) == 0);
    }

    @Test
    void manyLeasesAreRenewedInOneGo() {
        world = World.still();
        Hapax hapax = world.node(POLICY);
        var renewed = world.store.delayAnswers(Op.RENEW);
        IntStream.range(0, 200).forEach(i -> keyed(hapax, "many-" + i).runAsync(handler::runAsync));
        await().until(() -> handler.runs() == 200);
        await().until(() -> world.store.calls(Op.RENEW) >= 1);
        renewed.complete(null);

        assertThat(world.store.calls(Op.RENEW)).isLessThan(20);
    }

    @Test
    void aRenewalThatFailsIsTriedAgain() {
        world.store.loseCall(Op.RENEW, 1);
        world.store.loseAnswer(Op.RENEW, 2);
        Caller<Outcome<String>> running = start(world.node(POLICY));
        await().until(() -> world.store.calls(Op.RENEW) >= 5);
        handler.endWith("receipt");

        assertThat(executed(running.result()).recorded()).isTrue();
    }

    @Test
    void aHandlerThatRunsTooLongIsNoLongerRenewed() {
        start(world.node(CAPPED));

        await().untilAsserted(
                        () -> assertThat(world.stored().orElseThrow().running()).isFalse());
        assertThat(handler.lease().lost().toCompletableFuture()).succeedsWithin(Duration.ofSeconds(60));
        assertThat(handler.lease().isLost()).isTrue();
    }

    @Test
    void anotherNodeTakesOverFromAHandlerThatRunsTooLong() {
        start(world.node(CAPPED));
        Hapax other = world.node(POLICY);

        await().untilAsserted(() -> assertThat(
                        executed(call(other).run(lease -> "other")).attempt())
                .isEqualTo(2));
    }

    /** The cap on a hung handler counts in its own process too: a retry there must not be turned away for good. */
    @Test
    void thisNodeTakesOverFromAHandlerThatRunsTooLong() {
        Hapax hapax = world.node(CAPPED);
        start(hapax);
        await().until(() -> handler.lease().isLost());

        await().untilAsserted(() -> assertThat(
                        executed(call(hapax).run(lease -> "again")).attempt())
                .isEqualTo(2));
    }

    @Test
    void aResultOfAnotherNodeIsReplayedAlthoughAHungHandlerStillRunsHere() {
        Hapax hapax = world.node(CAPPED);
        start(hapax);
        await().until(() -> handler.lease().isLost());
        Hapax other = world.node(POLICY);
        await().untilAsserted(() -> executed(call(other).run(lease -> "other")));

        assertThat(replayed(call(hapax).run(mustNotRun())).value()).isEqualTo("other");
    }

    @Test
    void anOwnerThatWasOvertakenIsToldWhenItRenews() {
        world = World.still();
        Caller<Outcome<String>> overtaken = start(world.node(POLICY));
        Lease lease = handler.lease();
        overtake();

        assertThat(lease.lost().toCompletableFuture()).succeedsWithin(Duration.ofSeconds(60));
        assertThat(lease.isLost()).isTrue();
        handler.endWith("too late");
        assertThat(overtaken.failure()).isInstanceOf(ClaimLostException.class);
    }

    @Test
    void anOwnerThatWasOvertakenCannotFinish() {
        world = World.still();
        Policy neverRenewed = Policy.defaults();
        Caller<Outcome<String>> overtaken = start(world.node(neverRenewed));
        handler.lease();
        overtake();
        handler.endWith("too late");

        assertThat(((ClaimLostException) overtaken.failure()).attempt()).isEqualTo(1);
        assertThat(world.stored().orElseThrow().owner()).isEqualTo("elsewhere");
        assertThat(world.heard.events()).containsExactly("claimed 1", "claimLost 1");
    }

    @Test
    void anOwnerThatWasOvertakenAndFailsThrowsWhatItThrew() {
        world = World.still();
        Caller<Outcome<String>> overtaken = start(world.node(Policy.defaults()));
        handler.lease();
        overtake();
        IllegalStateException thrown = new IllegalStateException();
        handler.failWith(thrown);

        assertThat(overtaken.failure()).isSameAs(thrown);
        assertThat(thrown.getSuppressed()).hasOnlyElementsOfType(ClaimLostException.class);
        assertThat(world.state()).isEqualTo(State.PROCESSING);
    }

    @Test
    void aLeaseThatCouldNotBeRenewedInTimeCountsAsLost() {
        world.store.cutOff(Op.RENEW);
        start(world.node(POLICY));

        assertThat(handler.lease().lost().toCompletableFuture()).succeedsWithin(Duration.ofSeconds(60));
    }

    @Test
    void aLeaseThatCountsAsLostMayStillFinishIfNobodyTookOver() {
        world.store.cutOff(Op.RENEW);
        Caller<Outcome<String>> running = start(world.node(POLICY));
        await().until(() -> handler.lease().isLost());
        handler.endWith("receipt");

        assertThat(executed(running.result()).recorded()).isTrue();
    }

    /** What a handler does about a lost lease is its own affair: other leases are renewed meanwhile. */
    @Test
    void whatFollowsALostLeaseDoesNotHoldUpTheOthers() {
        CountDownLatch stuck = new CountDownLatch(1);
        Hapax hapax = world.node(CAPPED, builder -> builder.scope("long", POLICY));
        hapax.scope("long").key("other").returning(String.class).runAsync(handler::runAsync);
        Lease other = handler.lease();
        CompletableFuture<String> hung = new CompletableFuture<>();
        CompletableFuture<Void> told = new CompletableFuture<>();
        call(hapax).runAsync(lease -> {
            lease.lost().thenRun(() -> {
                told.complete(null);
                awaitUninterruptibly(stuck);
            });
            return hung;
        });
        await().until(told::isDone);
        int before = world.store.calls(Op.RENEW);

        try {
            await().atMost(Duration.ofSeconds(60)).until(() -> world.store.calls(Op.RENEW) > before + 2);
            assertThat(other.isLost()).isFalse();
        } finally {
            stuck.countDown();
        }
    }

    /** Handlers run on Hapax's threads; however long they take there, leases are renewed. */
    @Test
    void asyncHandlersThatBlockDoNotHoldUpRenewal() {
        Hapax hapax = world.node(POLICY);
        int many = 2 + Math.max(4, 2 * Runtime.getRuntime().availableProcessors());
        IntStream.range(0, many)
                .forEach(i -> keyed(hapax, "blocking-" + i)
                        .runAsync(lease -> CompletableFuture.completedFuture(handler.run(lease))));
        Lease first = handler.lease();
        int before = world.store.calls(Op.RENEW);

        await().atMost(Duration.ofSeconds(60)).until(() -> world.store.calls(Op.RENEW) > before + 4);
        assertThat(first.isLost()).isFalse();
    }

    /** A claim that was sent again until it was heard lasts from when it was granted. */
    @Test
    void aClaimThatWasGrantedLateIsRenewedAllTheSame() {
        Policy shorterThanTheOutage = Policy.defaults().lease(Duration.ofMillis(250));
        IntStream.rangeClosed(1, 5).forEach(nth -> world.store.loseCall(Op.CLAIM, nth));
        Caller<Outcome<String>> running = start(world.node(shorterThanTheOutage));
        handler.lease();

        await().atMost(Duration.ofSeconds(60)).until(() -> world.store.calls(Op.RENEW) >= 1);
        handler.endWith("receipt");
        running.result();
    }

    @Test
    void unansweredRenewalsDoNotHideThatTheLeaseIsOver() {
        Lease lease = startOn(scheduler);
        CompletableFuture<Void> answered = world.store.delayAnswers(Op.RENEW);
        scheduler.advance(LEASE.minusNanos(1));
        assertThat(lease.isLost()).isFalse();
        scheduler.advance(Duration.ofNanos(1));
        assertThat(lease.isLost()).isTrue();

        answered.complete(null);
        assertThat(lease.isLost()).isFalse();
        assertThat(lease.lost().toCompletableFuture()).isNotDone();
    }

    /** Trap 25. */
    @Test
    void unknownRenewalDoesNotProlongTheLease() {
        Lease lease = startOn(scheduler);
        world.store.answerRenewals(RenewalStatus.UNKNOWN);
        scheduler.advance(LEASE.minusNanos(1));
        assertThat(lease.isLost()).isFalse();
        assertThat(lease.lost().toCompletableFuture()).isNotDone();
        scheduler.advance(Duration.ofNanos(1));

        assertThat(world.store.calls(Op.RENEW)).isPositive();
        assertThat(lease.isLost()).isTrue();
    }

    @Test
    void unknownRenewalIsSentAgainWithTheNextTick() {
        startOn(scheduler);
        world.store.answerRenewals(RenewalStatus.UNKNOWN);
        scheduler.advance(LEASE.dividedBy(2));

        assertThat(world.store.calls(Op.RENEW)).isGreaterThan(1);
    }

    @Test
    void ownFinishedOperationIsNoLoss() {
        Lease lease = startOn(scheduler);
        Result result = Result.failed(402, "declined");
        world.memory.finish(new Finish(lease.operationId(), lease.token(), result, POLICY.retention()));
        scheduler.advance(LEASE.dividedBy(2));

        assertThat(world.store.calls(Op.RENEW)).isPositive();
        assertThat(lease.isLost()).isFalse();
        assertThat(lease.lost().toCompletableFuture()).isNotDone();
    }

    @Test
    void lostRenewalCompletesLost() {
        Lease lease = startOn(scheduler);
        world.store.answerRenewals(RenewalStatus.LOST);
        scheduler.advance(LEASE.dividedBy(2));

        assertThat(lease.isLost()).isTrue();
        assertThat(lease.lost().toCompletableFuture()).succeedsWithin(Duration.ofSeconds(60));
    }

    @Test
    void thirtyThousandLeasesAreAllRenewed() {
        MemoryStore store = new MemoryStore(scheduler);
        LeaseKeeper keeper = new LeaseKeeper(store, scheduler, Runnable::run, LEASE);
        List<HeldLease> leases = IntStream.range(0, 30_000)
                .mapToObj(i -> claimed(store, "many-" + i))
                .toList();
        leases.forEach(lease -> keeper.keep(lease, Duration.ofHours(1), () -> {}));
        scheduler.advance(LEASE.multipliedBy(3));

        assertThat(leases).noneMatch(HeldLease::isLost);
    }

    private HeldLease claimed(MemoryStore store, String key) {
        OperationKey operation = new OperationKey("", "payments", key);
        ClaimRequest request = ClaimRequest.of(operation, World.REQUEST, "here", POLICY.terms());
        Claim.Won won = (Claim.Won) store.claim(request).toCompletableFuture().join();
        HeldLease.Claimed claimed =
                new HeldLease.Claimed(request.id(), request.token(), won, scheduler.nanoTime(), false);
        return new HeldLease(claimed, LEASE, new DownstreamKeys(new byte[] {1}), scheduler);
    }

    /** On a clock that the test moves; the store's own stands still. */
    private Lease startOn(ManualScheduler clock) {
        world = World.still();
        call(world.node(POLICY, builder -> builder.scheduler(clock))).runAsync(handler::runAsync);
        return handler.lease();
    }

    private Caller<Outcome<String>> start(Hapax hapax) {
        return Caller.start(() -> call(hapax).run(handler));
    }

    private void overtake() {
        world.clock.advance(Duration.ofDays(1));
        world.claimElsewhere(Policy.defaults());
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
