package dev.hapax;

import static dev.hapax.World.call;
import static dev.hapax.World.executed;
import static dev.hapax.World.keyed;
import static dev.hapax.World.mustNotRun;
import static dev.hapax.World.replayed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.hapax.FaultyStore.Op;
import dev.hapax.Outcome.InProgress;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.Finish;
import dev.hapax.store.Payload;
import dev.hapax.store.Release;
import dev.hapax.store.Result;
import dev.hapax.store.State;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Waiting for an operation that runs in this process or elsewhere. */
class WaitingTest {
    private static final Policy PATIENT =
            Policy.defaults().whenInFlight(WhenInFlight.waitAtMost(Duration.ofMinutes(5)));
    private static final Policy HASTY = PATIENT.whenInFlight(WhenInFlight.waitAtMost(Duration.ofMillis(100)));
    private final World world = World.still();

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    void aWaiterGetsTheResultOfTheOtherNode() {
        ClaimRequest elsewhere = world.claimElsewhere(PATIENT);
        Caller<Outcome<String>> waiter = waiter(world.node(PATIENT));
        finish(elsewhere, "receipt");

        assertThat(replayed(waiter.result()).value()).isEqualTo("receipt");
    }

    @Test
    void aWaiterRunsWhatTheOtherNodeGaveBack() {
        ClaimRequest elsewhere = world.claimElsewhere(PATIENT);
        Hapax hapax = world.node(PATIENT);
        Caller<Outcome<String>> waiter =
                Caller.start(() -> call(hapax).run(lease -> "mine")).untilItWaits();
        world.memory.release(
                new Release(elsewhere.id(), elsewhere.token(), Release.Kind.TRY_AGAIN, PATIENT.retention(), "gave up"));

        assertThat(executed(waiter.result()).attempt()).isEqualTo(2);
    }

    @Test
    void aWaiterTakesOverWhenTheOtherNodesLeaseRunsOut() {
        world.claimElsewhere(PATIENT);
        Hapax hapax = world.node(PATIENT);
        Caller<Outcome<String>> waiter =
                Caller.start(() -> call(hapax).run(lease -> "mine")).untilItWaits();
        world.clock.advance(PATIENT.lease());

        assertThat(executed(waiter.result()).attempt()).isEqualTo(2);
    }

    @Test
    void aWaitForAnotherNodeEndsAtItsLimit() {
        world.claimElsewhere(HASTY);

        assertThat(call(world.node(HASTY)).run(mustNotRun())).isInstanceOf(InProgress.class);
    }

    /** Trap 7. */
    @Test
    void aWaiterThatGivesUpLeavesTheOtherNodesClaimAlone() {
        ClaimRequest elsewhere = world.claimElsewhere(HASTY);
        call(world.node(HASTY)).run(mustNotRun());

        assertThat(world.state()).isEqualTo(State.PROCESSING);
        assertThat(world.stored().orElseThrow().token()).isEqualTo(elsewhere.token());
        assertThat(world.store.calls(Op.RELEASE) + world.store.calls(Op.FINISH)).isZero();
    }

    /** Trap 7. */
    @Test
    void aWaiterThatGivesUpLeavesTheRunningCallAlone() {
        Hapax hapax = world.node(HASTY);
        SlowHandler handler = new SlowHandler();
        Caller<Outcome<String>> leader = Caller.start(() -> call(hapax).run(handler));
        handler.lease();

        assertThat(call(hapax).run(mustNotRun())).isInstanceOf(InProgress.class);
        assertThat(world.state()).isEqualTo(State.PROCESSING);
        handler.endWith("receipt");
        assertThat(executed(leader.result()).recorded()).isTrue();
        assertThat(replayed(call(hapax).run(mustNotRun())).value()).isEqualTo("receipt");
    }

    @Test
    void waitersForAnotherNodeShareOneClaimAndOnePoller() {
        ClaimRequest elsewhere = world.claimElsewhere(PATIENT);
        var claimed = world.store.delayAnswers(Op.CLAIM);
        var found = world.store.delayAnswers(Op.FIND);
        Hapax hapax = world.node(PATIENT);
        List<CompletableFuture<Outcome<String>>> waiters = waiters(hapax, 200, "k-1");
        await().until(() -> world.store.calls(Op.CLAIM) >= 1);
        claimed.complete(null);
        await().until(() -> world.store.calls(Op.FIND) == 1);
        finish(elsewhere, "receipt");
        found.complete(null);

        await().until(() -> waiters.stream().allMatch(CompletableFuture::isDone));
        assertThat(waiters.stream().map(it -> replayed(it.join()).value())).containsOnly("receipt");
        assertThat(world.store.calls(Op.FIND)).isLessThan(10);
    }

    @Test
    void onePollAsksForAllAwaitedOperations() {
        Hapax other = world.node(PATIENT);
        SlowHandler slow = new SlowHandler();
        List<CompletableFuture<Outcome<String>>> owners = IntStream.range(0, 20)
                .mapToObj(
                        i -> keyed(other, "many-" + i).runAsync(slow::runAsync).toCompletableFuture())
                .toList();
        await().until(() -> slow.runs() == 20);
        var found = world.store.delayAnswers(Op.FIND);
        Hapax hapax = world.node(PATIENT);
        List<CompletableFuture<Outcome<String>>> waiters = IntStream.range(0, 20)
                .mapToObj(i -> waiters(hapax, 1, "many-" + i).get(0))
                .toList();
        await().until(() -> world.store.calls(Op.CLAIM) == 40 && world.store.calls(Op.FIND) == 1);
        slow.endWith("receipt");
        found.complete(null);

        await().until(() -> waiters.stream().allMatch(CompletableFuture::isDone));
        assertThat(owners).allSatisfy(owner -> assertThat(owner).isDone());
        assertThat(world.store.calls(Op.FIND)).isLessThan(10);
    }

    @Test
    void aPollThatFailsIsTriedAgain() {
        ClaimRequest elsewhere = world.claimElsewhere(PATIENT);
        world.store.loseCall(Op.FIND, 1);
        world.store.loseCall(Op.FIND, 2);
        Caller<Outcome<String>> waiter = waiter(world.node(PATIENT));
        finish(elsewhere, "receipt");

        assertThat(replayed(waiter.result()).value()).isEqualTo("receipt");
    }

    @Test
    void nobodyPollsOnceNobodyWaits() {
        world.claimElsewhere(HASTY);
        call(world.node(HASTY)).run(mustNotRun());
        int polls = world.store.calls(Op.FIND);

        await().during(Duration.ofMillis(600)).until(() -> world.store.calls(Op.FIND) <= polls + 1);
    }

    @Test
    void moreWaitersThanAllowedForACallOfThisProcessAreToldAtOnce() {
        Hapax hapax = world.node(PATIENT, builder -> builder.maxWaiters(1));
        SlowHandler handler = new SlowHandler();
        Caller<Outcome<String>> leader = Caller.start(() -> call(hapax).run(handler));
        handler.lease();
        Caller<Outcome<String>> allowed = waiter(hapax);
        Caller<Outcome<String>> tooMany = Caller.start(() -> call(hapax).run(mustNotRun()));

        try {
            await().atMost(Duration.ofSeconds(60)).until(tooMany::isDone);
            assertThat(tooMany.result()).isInstanceOf(InProgress.class);
        } finally {
            handler.endWith("receipt");
        }
        leader.result();
        assertThat(replayed(allowed.result()).value()).isEqualTo("receipt");
    }

    @Test
    void moreWaitersThanAllowedForAnotherNodeAreToldAtOnceAndDoNotStormTheStore() {
        ClaimRequest elsewhere = world.claimElsewhere(PATIENT);
        Hapax hapax = world.node(PATIENT, builder -> builder.maxWaiters(0));
        Caller<Outcome<String>> tooMany = Caller.start(() -> call(hapax).run(mustNotRun()));

        try {
            await().atMost(Duration.ofSeconds(60)).until(tooMany::isDone);
            assertThat(tooMany.result()).isInstanceOf(InProgress.class);
        } finally {
            finish(elsewhere, "receipt");
        }
        assertThat(world.store.calls(Op.CLAIM)).isEqualTo(1);
    }

    @Test
    void aWaiterThatLeftMakesRoomForAnother() {
        world.claimElsewhere(HASTY);
        Hapax hapax = world.node(HASTY, builder -> builder.maxWaiters(1));
        call(hapax).run(mustNotRun());
        int before = world.store.calls(Op.FIND);
        call(hapax).run(mustNotRun());

        assertThat(world.store.calls(Op.FIND)).isGreaterThan(before);
    }

    private Caller<Outcome<String>> waiter(Hapax hapax) {
        return Caller.start(() -> call(hapax).run(mustNotRun())).untilItWaits();
    }

    private static List<CompletableFuture<Outcome<String>>> waiters(Hapax hapax, int count, String key) {
        return IntStream.range(0, count)
                .mapToObj(i -> keyed(hapax, key)
                        .runAsync(lease -> CompletableFuture.failedFuture(new AssertionError("the handler ran")))
                        .toCompletableFuture())
                .toList();
    }

    private void finish(ClaimRequest claim, String value) {
        Result result = Result.completed(Payload.of(value.getBytes(StandardCharsets.UTF_8)));
        world.memory.finish(new Finish(claim.id(), claim.token(), result, Duration.ofDays(1)));
    }
}
