package dev.hapax;

import static dev.hapax.World.call;
import static dev.hapax.World.executed;
import static dev.hapax.World.mustNotRun;
import static dev.hapax.World.replayed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.hapax.FaultyStore.Op;
import dev.hapax.store.State;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class InterruptionTest {
    private static final Policy POLICY = Policy.defaults().whenInFlight(WhenInFlight.waitAtMost(Duration.ofMinutes(5)));
    private final World world = World.still();
    private final Hapax hapax = world.node(POLICY);
    private final SlowHandler handler = new SlowHandler();

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    void whoIsInterruptedDuringTheClaimDoesNotRun() {
        world.store.delayAnswers(Op.CLAIM);
        Caller<Outcome<String>> caller =
                Caller.start(() -> call(hapax).run(mustNotRun())).untilItWaits();
        caller.interrupt();

        assertThat(caller.failure()).isInstanceOf(CallInterruptedException.class);
        assertThat(caller.wasInterrupted()).isTrue();
    }

    @Test
    void aClaimThatComesAfterTheInterruptionIsGivenBack() {
        var claimed = world.store.delayAnswers(Op.CLAIM);
        Caller<Outcome<String>> caller =
                Caller.start(() -> call(hapax).run(mustNotRun())).untilItWaits();
        caller.interrupt();
        caller.failure();
        claimed.complete(null);

        await().untilAsserted(() -> assertThat(world.state()).isEqualTo(State.PENDING));
        assertThat(executed(call(hapax).run(lease -> "receipt")).value()).isEqualTo("receipt");
    }

    @Test
    void whoIsInterruptedWhileWaitingLeavesTheRunningCallAlone() {
        Caller<Outcome<String>> leader = Caller.start(() -> call(hapax).run(handler));
        handler.lease();
        Caller<Outcome<String>> waiter =
                Caller.start(() -> call(hapax).run(mustNotRun())).untilItWaits();
        waiter.interrupt();

        assertThat(waiter.failure()).isInstanceOf(CallInterruptedException.class);
        assertThat(world.state()).isEqualTo(State.PROCESSING);
        handler.endWith("receipt");
        assertThat(executed(leader.result()).recorded()).isTrue();
    }

    @Test
    void aResultIsStoredAlthoughTheThreadWasInterruptedWhileTheHandlerRan() {
        Caller<Outcome<String>> caller = Caller.start(() -> call(hapax).run(handler));
        handler.lease();
        caller.interrupt();
        handler.endWith("receipt");

        assertThat(executed(caller.result()).recorded()).isTrue();
        assertThat(caller.wasInterrupted()).isTrue();
    }

    @Test
    void aHandlerThatEndsWithAnInterruptionGivesTheClaimBack() {
        CountDownLatch never = new CountDownLatch(1);
        Caller<Outcome<String>> caller = Caller.start(() -> call(hapax).run(lease -> {
            never.await();
            return "never";
        }));
        caller.untilItWaits();
        caller.interrupt();

        assertThat(caller.failure()).isInstanceOf(InterruptedException.class);
        assertThat(world.state()).isEqualTo(State.PENDING);
    }

    @Test
    void whoIsInterruptedWhileTheResultIsStoredStillGetsIt() {
        var stored = world.store.delayAnswers(Op.FINISH);
        Caller<Outcome<String>> caller = Caller.start(() -> call(hapax).run(lease -> "receipt"));
        await().until(() -> world.store.calls(Op.FINISH) == 1);
        caller.untilItWaits().interrupt();
        stored.complete(null);

        assertThat(executed(caller.result()).recorded()).isTrue();
        assertThat(caller.wasInterrupted()).isTrue();
        assertThat(replayed(call(hapax).run(mustNotRun())).value()).isEqualTo("receipt");
    }

    @Test
    void anInterruptionDoesNotEndTheRetriesOfStoring() {
        world.store.loseCall(Op.FINISH, 1);
        world.store.loseCall(Op.FINISH, 2);
        Caller<Outcome<String>> caller = Caller.start(() -> call(hapax).run(lease -> {
            Thread.currentThread().interrupt();
            return "receipt";
        }));

        assertThat(executed(caller.result()).recorded()).isTrue();
        assertThat(caller.wasInterrupted()).isTrue();
    }

    /** Under payment() it leaves the operation in doubt, and the caller must still see that it is to stop. */
    @Test
    void interruptedHandlerThatIsInDoubtKeepsTheInterrupt() {
        Hapax hapax = world.node(Policy.payment());
        Caller<Outcome<String>> caller = Caller.start(() -> call(hapax).run(lease -> {
            throw new InterruptedException();
        }));

        assertThat(caller.result()).isInstanceOf(Outcome.InDoubt.class);
        assertThat(caller.wasInterrupted()).isTrue();
    }
}
