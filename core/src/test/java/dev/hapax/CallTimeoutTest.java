package dev.hapax;

import static dev.hapax.World.call;
import static dev.hapax.World.executed;
import static dev.hapax.World.mustNotRun;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.hapax.FaultyStore.Op;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.State;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CallTimeoutTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(2);
    private static final Policy WAITING =
            Policy.defaults().whenInFlight(WhenInFlight.waitAtMost(Duration.ofMinutes(5)));
    private final World world = World.still();
    private final ManualScheduler scheduler = new ManualScheduler();
    private final Hapax hapax = world.node(WAITING, builder -> builder.scheduler(scheduler));
    private final SlowHandler handler = new SlowHandler();

    @AfterEach
    void close() {
        handler.endWith("closed");
        world.close();
    }

    @Test
    void silentStoreEndsTheCallAtItsTimeout() {
        world.store.delayCalls(Op.CLAIM);
        CompletionStage<Outcome<String>> outcome = runAsync();
        scheduler.advance(TIMEOUT.minusNanos(1));
        assertThat(outcome.toCompletableFuture()).isNotDone();
        scheduler.advance(Duration.ofNanos(1));

        assertTimedOut(outcome);
        assertThat(handler.runs()).isZero();
    }

    @Test
    void silentStoreEndsABlockingCallToo() {
        world.store.delayCalls(Op.CLAIM);
        Caller<Outcome<String>> caller =
                Caller.start(() -> call(hapax).timeout(TIMEOUT).run(mustNotRun()));
        await().until(() -> scheduler.timers() == 1);
        caller.untilItWaits();
        scheduler.advance(TIMEOUT);

        assertThat(caller.failure())
                .isInstanceOf(CallTimeoutException.class)
                .extracting(it -> ((CallTimeoutException) it).operationId())
                .isEqualTo(World.KEY.id());
    }

    @Test
    void claimThatIsWonTooLateIsGivenBack() {
        CompletableFuture<Void> answered = world.store.delayCalls(Op.CLAIM);
        assertTimedOut(afterTheTimeout(runAsync()));
        world.store.heal();
        answered.complete(null);

        assertThat(world.state()).isEqualTo(State.PENDING);
        assertThat(executed(call(hapax).run(lease -> "receipt")).attempt()).isEqualTo(1);
        assertThat(handler.runs()).isZero();
    }

    @Test
    void waitForAnotherProcessEndsAtTheTimeout() {
        ClaimRequest elsewhere = world.claimElsewhere(WAITING);

        assertTimedOut(afterTheTimeout(runAsync()));
        assertThat(world.stored().orElseThrow().token()).isEqualTo(elsewhere.token());
    }

    @Test
    void waitForACallOfThisProcessEndsAtTheTimeout() {
        SlowHandler running = new SlowHandler();
        call(hapax).runAsync(running::runAsync);
        running.lease();

        assertTimedOut(afterTheTimeout(runAsync()));
        running.endWith("receipt");
        assertThat(handler.runs()).isZero();
    }

    @Test
    void shorterWaitOfThePolicyIsNoTimeout() {
        Hapax hasty = world.node(
                WAITING.whenInFlight(WhenInFlight.waitAtMost(TIMEOUT.dividedBy(2))),
                builder -> builder.scheduler(scheduler));
        world.claimElsewhere(WAITING);
        CompletionStage<Outcome<String>> outcome = call(hasty).timeout(TIMEOUT).runAsync(handler::runAsync);
        scheduler.advance(TIMEOUT.dividedBy(2));

        assertThat(outcome.toCompletableFuture()).succeedsWithin(Duration.ofSeconds(60));
        assertThat(outcome.toCompletableFuture().join()).isInstanceOf(Outcome.InProgress.class);
    }

    @Test
    void handlerMayTakeLongerThanTheTimeout() {
        CompletionStage<Outcome<String>> outcome = runAsync();
        handler.lease();
        scheduler.advance(TIMEOUT.multipliedBy(2));
        handler.endWith("receipt");

        assertThat(outcome.toCompletableFuture()).succeedsWithin(Duration.ofSeconds(60));
        assertThat(executed(outcome.toCompletableFuture().join()).recorded()).isTrue();
    }

    @Test
    void storeIsToldHowLongToWaitForALock() {
        call(hapax).timeout(TIMEOUT).run(lease -> "receipt");
        call(hapax).timeout(Duration.ofHours(1)).run(mustNotRun());
        call(hapax).run(mustNotRun());

        assertThat(world.store.claimTimeouts())
                .containsExactly(TIMEOUT, ClaimRequest.DEFAULT_TIMEOUT, ClaimRequest.DEFAULT_TIMEOUT);
    }

    @Test
    void timelyCallLeavesNoTimerBehind() {
        CompletableFuture<Void> answered = world.store.delayAnswers(Op.CLAIM);
        CompletionStage<Outcome<String>> outcome = runAsync();
        handler.endWith("receipt");
        answered.complete(null);
        await().until(outcome.toCompletableFuture()::isDone);
        scheduler.advance(Duration.ofSeconds(1));

        assertThat(scheduler.timers()).isZero();
    }

    @Test
    void timeoutTakesTime() {
        assertThatIllegalArgumentException().isThrownBy(() -> call(hapax).timeout(Duration.ZERO));
    }

    private CompletionStage<Outcome<String>> runAsync() {
        return call(hapax).timeout(TIMEOUT).runAsync(handler::runAsync);
    }

    private CompletionStage<Outcome<String>> afterTheTimeout(CompletionStage<Outcome<String>> outcome) {
        scheduler.advance(TIMEOUT);
        return outcome;
    }

    private static void assertTimedOut(CompletionStage<Outcome<String>> outcome) {
        assertThat(outcome.toCompletableFuture()).failsWithin(Duration.ofSeconds(60));
        assertThatThrownBy(outcome.toCompletableFuture()::join).hasCauseInstanceOf(CallTimeoutException.class);
    }
}
