package dev.hapax;

import static dev.hapax.World.call;
import static dev.hapax.World.executed;
import static dev.hapax.World.mustNotRun;
import static dev.hapax.World.replayed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.hapax.FaultyStore.Op;
import dev.hapax.store.State;
import dev.hapax.store.StoreException;
import dev.hapax.store.StoreUnavailableException;
import dev.hapax.store.WhenAbandoned;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StoreFailureTest {
    /** Short, because the patience for storing a result is no longer than a lease. */
    private static final Policy CLOSED = Policy.defaults().lease(Duration.ofMillis(300));

    private static final Policy OPEN = CLOSED.onStoreFailure(OnStoreFailure.OPEN);
    private final World world = World.still();
    private final AtomicInteger runs = new AtomicInteger();

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    void aClaimThatDidNotReachTheStoreIsSentAgain() {
        world.store.loseCall(Op.CLAIM, 1);

        assertThat(executed(call(world.node(CLOSED)).run(this::work)).attempt()).isEqualTo(1);
    }

    @Test
    void aClaimWhoseAnswerWasLostWinsAgainWithTheSameToken() {
        world.store.loseAnswer(Op.CLAIM, 1);

        assertThat(executed(call(world.node(CLOSED)).run(this::work)).attempt()).isEqualTo(1);
        assertThat(world.store.claimTokens()).hasSize(2);
        assertThat(Set.copyOf(world.store.claimTokens())).hasSize(1);
        assertThat(runs).hasValue(1);
    }

    @Test
    void aFinishThatDidNotReachTheStoreIsSentAgainWithTheSameToken() {
        world.store.loseCall(Op.FINISH, 1);
        world.store.loseCall(Op.FINISH, 2);

        assertThat(executed(call(world.node(CLOSED)).run(this::work)).recorded())
                .isTrue();
        assertThat(world.store.finishTokens()).hasSize(3);
        assertThat(Set.copyOf(world.store.finishTokens())).hasSize(1);
    }

    @Test
    void aFinishWhoseAnswerWasLostIsRecordedOnce() {
        world.store.loseAnswer(Op.FINISH, 1);

        assertThat(executed(call(world.node(CLOSED)).run(this::work)).recorded())
                .isTrue();
        assertThat(world.heard.events()).containsExactly("claimed 1", "completed 1");
        assertThat(replayed(call(world.node(CLOSED)).run(mustNotRun())).value()).isEqualTo("receipt");
    }

    /** Trap 9. */
    @Test
    void theCallerGetsItsResultAlthoughItCannotBeStored() {
        world.store.cutOff(Op.FINISH);

        Outcome.Executed<String> outcome = executed(call(world.node(CLOSED)).run(this::work));
        assertThat(outcome.value()).isEqualTo("receipt");
        assertThat(outcome.recorded()).isFalse();
    }

    /** Trap 9. */
    @Test
    void aResultThatCannotBeStoredLeavesTheKeyToItsLease() {
        world.store.cutOff(Op.FINISH);
        call(world.node(CLOSED)).run(this::work);

        assertThat(world.state()).isEqualTo(State.PROCESSING);
        assertThat(world.store.calls(Op.RELEASE)).isZero();
        assertThat(world.heard.events()).containsExactly("claimed 1", "unrecorded 1");
    }

    @Test
    void aResultThatCouldNotBeStoredIsStoredWhenTheStoreComesBack() {
        world.store.cutOff(Op.FINISH);
        Hapax hapax = world.node(CLOSED);
        assertThat(executed(call(hapax).run(this::work)).recorded()).isFalse();
        world.store.heal();

        await().until(() -> world.state() == State.COMPLETED);
        assertThat(replayed(call(hapax).run(mustNotRun())).value()).isEqualTo("receipt");
    }

    @Test
    void aResultThatCannotBeStoredIsNoLongerRenewed() {
        world.store.cutOff(Op.FINISH);
        Hapax hapax = world.node(CLOSED);
        call(hapax).run(this::work);
        int before = world.store.calls(Op.RENEW);

        await().during(Duration.ofMillis(400)).until(() -> world.store.calls(Op.RENEW) <= before + 1);
    }

    @Test
    void aRetryWhileTheResultWaitsForTheStoreDoesNotRun() {
        world.store.cutOff(Op.FINISH);
        Hapax hapax = world.node(CLOSED);
        call(hapax).run(this::work);

        assertThat(call(hapax).run(mustNotRun())).isInstanceOf(Outcome.InProgress.class);
    }

    @Test
    void aTerminalFailureThatCannotBeStoredIsStillTheOutcome() {
        world.store.cutOff(Op.FINISH);

        Outcome.Executed<String> outcome = executed(call(world.node(CLOSED)).run(lease -> {
            throw new TerminalFailure(402, "declined");
        }));
        assertThat(outcome.recorded()).isFalse();
        assertThat(outcome.ending().failure()).isPresent();
    }

    @Test
    void aFinishThatTheStoreRefusesIsNotSentAgain() {
        world.store.breakDown(Op.FINISH, new StoreException("disk full", null));

        assertThat(executed(call(world.node(CLOSED)).run(this::work)).recorded())
                .isFalse();
        assertThat(world.store.calls(Op.FINISH)).isEqualTo(1);
    }

    @Test
    void aReleaseThatDidNotReachTheStoreIsSentAgain() {
        world.store.loseCall(Op.RELEASE, 1);
        IllegalStateException thrown = new IllegalStateException();

        assertThatThrownBy(() -> call(world.node(CLOSED)).run(lease -> {
                    throw thrown;
                }))
                .isSameAs(thrown);
        assertThat(world.state()).isEqualTo(State.PENDING);
    }

    @Test
    void theHandlersExceptionSurvivesAReleaseThatFails() {
        world.store.cutOff(Op.RELEASE);
        IllegalStateException thrown = new IllegalStateException();

        assertThatThrownBy(() -> call(world.node(CLOSED)).run(lease -> {
                    throw thrown;
                }))
                .isSameAs(thrown);
    }

    @Test
    void closedRefusesAndDoesNotRun() {
        world.store.cutOff(Op.values());

        assertThatThrownBy(() -> call(world.node(CLOSED)).run(mustNotRun()))
                .isInstanceOf(StoreUnavailableException.class);
        assertThat(world.heard.events()).containsExactly("refused");
    }

    @Test
    void closedRefusesFollowersToo() {
        world.store.cutOff(Op.values());
        Hapax hapax = world.node(CLOSED);
        List<Caller<Outcome<String>>> callers = IntStream.range(0, 8)
                .mapToObj(i -> Caller.start(() -> call(hapax).run(World.<String>mustNotRun())))
                .toList();

        assertThat(callers)
                .allSatisfy(caller -> assertThat(caller.failure()).isInstanceOf(StoreUnavailableException.class));
    }

    @Test
    void openRunsUnprotected() {
        world.store.cutOff(Op.values());

        Outcome.Executed<String> outcome = executed(call(world.node(OPEN)).run(this::work));
        assertThat(outcome.value()).isEqualTo("receipt");
        assertThat(outcome.recorded()).isFalse();
        assertThat(world.heard.events()).containsExactly("unprotected", "claimed 1");
    }

    @Test
    void openRethrowsWhatTheUnprotectedHandlerThrows() {
        world.store.cutOff(Op.values());
        IllegalStateException thrown = new IllegalStateException();

        assertThatThrownBy(() -> call(world.node(OPEN)).run(lease -> {
                    throw thrown;
                }))
                .isSameAs(thrown);
    }

    @Test
    void openDoesNotRunWhatTheStoreRefused() {
        world.store.breakDown(Op.CLAIM, new StoreException("no such table", null));

        assertThatThrownBy(() -> call(world.node(OPEN)).run(mustNotRun())).hasMessage("no such table");
    }

    /** An outage is noticed once, not by one caller after the other. */
    @Test
    void openCallersOfOneKeyDoNotQueueForTheStoreThatIsDown() {
        world.store.cutOff(Op.CLAIM);
        Hapax hapax = world.node(OPEN);
        List<CompletableFuture<Outcome<String>>> callers = IntStream.range(0, 6)
                .mapToObj(i -> call(hapax)
                        .runAsync(lease -> CompletableFuture.completedFuture("receipt"))
                        .toCompletableFuture())
                .toList();

        await().until(() -> callers.stream().allMatch(CompletableFuture::isDone));
        int triesOfOneCaller = 6;
        assertThat(world.store.calls(Op.CLAIM)).isLessThanOrEqualTo(2 * triesOfOneCaller);
    }

    @Test
    void aClaimThatNobodyHeardOfIsGivenBack() {
        world.store.loseAnswers(Op.CLAIM);
        assertThatThrownBy(() -> call(world.node(CLOSED)).run(mustNotRun()))
                .isInstanceOf(StoreUnavailableException.class);
        await().untilAsserted(() -> assertThat(world.state()).isEqualTo(State.PENDING));
        world.store.heal();

        assertThat(executed(call(world.node(CLOSED)).run(this::work)).value()).isEqualTo("receipt");
    }

    @Test
    void aClaimThatFailsWithAnErrorLeavesNothingBehind() {
        world.store.breakDown(Op.CLAIM, new AssertionError("broken store"));
        Hapax hapax = world.node(CLOSED);

        assertThatThrownBy(() -> call(hapax).run(mustNotRun())).hasMessage("broken store");
        world.store.heal();
        assertThat(executed(call(hapax).run(this::work)).attempt()).isEqualTo(1);
    }

    /** Closing is no reason to hang: the work is done, and its caller waits for nothing but the store. */
    @Test
    void closingDoesNotLeaveACallerWaitingForTheStore() {
        world.store.cutOff(Op.FINISH);
        Hapax hapax = world.node(CLOSED.lease(Duration.ofSeconds(2)));
        Caller<Outcome<String>> caller = Caller.start(() -> call(hapax).run(this::work));
        await().until(() -> world.store.calls(Op.FINISH) >= 2);
        hapax.close();

        assertThat(executed(caller.result()).recorded()).isFalse();
    }

    @Test
    void failureThatIsStoredLateIsToldAsFailed() {
        world.store.cutOff(Op.FINISH);
        call(world.node(CLOSED)).run(lease -> {
            throw new TerminalFailure(402, "declined");
        });
        world.store.heal();

        await().untilAsserted(() ->
                assertThat(world.heard.events()).containsExactly("claimed 1", "unrecorded 1", "failed 1"));
    }

    @Test
    void resultThatIsStoredLateIsToldAsCompleted() {
        world.store.cutOff(Op.FINISH);
        call(world.node(CLOSED)).run(this::work);
        world.store.heal();

        await().untilAsserted(() ->
                assertThat(world.heard.events()).containsExactly("claimed 1", "unrecorded 1", "completed 1"));
    }

    /** A claim whose commit was stalled is nobody's: it must not be parked for an operator. */
    @Test
    void orphanedClaimThatCommitsLateIsReleased() {
        ManualScheduler scheduler = new ManualScheduler();
        Policy parking = Policy.defaults().whenAbandoned(WhenAbandoned.PARK);
        Hapax hapax = world.node(parking, builder -> builder.scheduler(scheduler));
        CompletableFuture<Void> commit = world.store.commitLate(Op.CLAIM);
        CompletableFuture<Outcome<String>> refused = call(hapax)
                .runAsync(lease -> CompletableFuture.completedFuture("must not run"))
                .toCompletableFuture();
        scheduler.advance(Duration.ofSeconds(5));
        assertThat(refused).failsWithin(Duration.ofSeconds(60));
        world.store.heal();
        commit.complete(null);
        assertThat(world.state()).isEqualTo(State.PROCESSING);
        scheduler.advance(parking.lease());
        world.clock.advance(parking.lease());

        assertThat(executed(call(hapax).run(this::work)).attempt()).isEqualTo(1);
    }

    private String work(Lease lease) {
        runs.incrementAndGet();
        return "receipt";
    }
}
