package dev.hapax;

import static dev.hapax.World.call;
import static dev.hapax.World.executed;
import static dev.hapax.World.keyed;
import static dev.hapax.World.mustNotRun;
import static dev.hapax.World.replayed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.hapax.FaultyStore.Op;
import dev.hapax.store.State;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RunAsyncTest {
    private final World world = World.still();
    private final Hapax hapax = world.node(Policy.defaults());

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    void aFreshCallRuns() {
        var outcome = executed(runAsync(lease -> CompletableFuture.completedFuture("receipt")));

        assertThat(outcome.value()).isEqualTo("receipt");
        assertThat(outcome.attempt()).isEqualTo(1);
        assertThat(outcome.recorded()).isTrue();
    }

    @Test
    void aRetryGetsAnEqualResultWithoutRunning() {
        runAsync(lease -> CompletableFuture.completedFuture("receipt"));

        assertThat(replayed(runAsync(RunAsyncTest::mustNotRunAsync)).value()).isEqualTo("receipt");
    }

    @Test
    void runAndRunAsyncShareOperations() {
        call(hapax).run(lease -> "receipt");

        assertThat(replayed(runAsync(RunAsyncTest::mustNotRunAsync)).value()).isEqualTo("receipt");
    }

    @Test
    void theCallingThreadIsNotUsed() {
        Thread caller = Thread.currentThread();
        var outcome = executed(runAsync(lease -> CompletableFuture.completedFuture(
                Thread.currentThread() == caller ? "on the caller's thread" : "elsewhere")));

        assertThat(outcome.value()).isEqualTo("elsewhere");
    }

    @Test
    void handlersThatBlockOnAnotherOperationHoldUpNothingElse() {
        Hapax patient = world.node(Policy.defaults().whenInFlight(WhenInFlight.waitAtMost(Duration.ofMillis(200))));
        SlowHandler popular = new SlowHandler();
        Caller<Outcome<String>> leader =
                Caller.start(() -> keyed(patient, "popular").run(popular));
        popular.lease();
        List<CompletableFuture<Outcome<String>>> blocked = IntStream.range(0, 32)
                .mapToObj(i -> keyed(patient, "blocked-" + i)
                        .runAsync(lease -> {
                            keyed(patient, "popular").run(mustNotRun());
                            return CompletableFuture.completedFuture("done");
                        })
                        .toCompletableFuture())
                .toList();

        assertThat(CompletableFuture.allOf(blocked.toArray(CompletableFuture[]::new)))
                .succeedsWithin(Duration.ofSeconds(60));
        popular.endWith("receipt");
        leader.result();
    }

    @Test
    void executorThatOnlyTakesHandlersIsNotGivenWhatFollows() {
        CompletableFuture<String> work = new CompletableFuture<>();
        AtomicInteger taken = new AtomicInteger();
        CompletableFuture<Outcome<String>> outcome = call(hapax)
                .runAsync(
                        lease -> work,
                        task -> {
                            taken.incrementAndGet();
                            task.run();
                        },
                        Runnable::run)
                .toCompletableFuture();
        work.complete("receipt");

        assertThat(outcome).succeedsWithin(Duration.ofSeconds(60));
        assertThat(taken).hasValue(1);
    }

    @Test
    void aHandlerThatThrowsAtOnceGivesTheClaimBack() {
        IllegalStateException thrown = new IllegalStateException();

        assertThatThrownBy(() -> runAsync(lease -> {
                    throw thrown;
                }))
                .hasCause(thrown);
        assertThat(world.state()).isEqualTo(State.PENDING);
    }

    @Test
    void aHandlerThatThrowsAnErrorAtOnceGivesTheClaimBack() {
        Error thrown = new AssertionError();

        assertThatThrownBy(() -> runAsync(lease -> {
                    throw thrown;
                }))
                .hasCause(thrown);
        assertThat(world.state()).isEqualTo(State.PENDING);
    }

    @Test
    void aHandlerThatReturnsNoStageGivesTheClaimBack() {
        assertThatThrownBy(() -> runAsync(lease -> null)).hasCauseInstanceOf(NullPointerException.class);
        assertThat(world.state()).isEqualTo(State.PENDING);
    }

    @Test
    void aHandlerThatFailsLaterGivesTheClaimBack() {
        IOException thrown = new IOException();
        CompletableFuture<String> end = new CompletableFuture<>();
        CompletableFuture<Outcome<String>> outcome =
                call(hapax).runAsync(lease -> end).toCompletableFuture();
        end.completeExceptionally(thrown);

        assertThatThrownBy(() -> join(outcome)).hasCause(thrown);
        assertThat(world.state()).isEqualTo(State.PENDING);
    }

    @Test
    void theCauseOfAFailedChainIsWhatTheCallerGets() {
        IllegalStateException thrown = new IllegalStateException();

        assertThatThrownBy(() ->
                        runAsync(lease -> CompletableFuture.<String>failedFuture(new CompletionException(thrown))))
                .hasCause(thrown);
    }

    @Test
    void theCallAfterAFailureIsTheSecondAttempt() {
        assertThatThrownBy(() -> runAsync(lease -> CompletableFuture.failedFuture(new IOException())))
                .isNotNull();

        assertThat(executed(runAsync(lease -> CompletableFuture.completedFuture("receipt")))
                        .attempt())
                .isEqualTo(2);
    }

    @Test
    void aTerminalFailureIsStoredAndReplayed() {
        TerminalFailure declined = new TerminalFailure(402, "declined");
        var outcome = executed(runAsync(lease -> CompletableFuture.failedFuture(declined)));

        assertThat(outcome.ending().failure()).containsSame(declined);
        assertThat(replayed(runAsync(RunAsyncTest::mustNotRunAsync))
                        .ending()
                        .failure()
                        .orElseThrow()
                        .code())
                .isEqualTo(402);
    }

    @Test
    void anotherRequestIsAMismatch() {
        call(hapax).run(lease -> "receipt");

        assertThat(join(call(hapax)
                        .fingerprint(World.OTHER_REQUEST)
                        .runAsync(RunAsyncTest::mustNotRunAsync)
                        .toCompletableFuture()))
                .isInstanceOf(Outcome.Mismatched.class);
    }

    @Test
    void aClaimThatWasLostIsSaidSo() {
        CompletableFuture<String> end = new CompletableFuture<>();
        CompletableFuture<Outcome<String>> overtaken =
                call(hapax).runAsync(lease -> end).toCompletableFuture();
        await().until(() -> world.stored().isPresent());
        world.clock.advance(Policy.defaults().lease());
        world.claimElsewhere(Policy.defaults());
        end.complete("too late");

        assertThatThrownBy(() -> join(overtaken)).hasCauseInstanceOf(ClaimLostException.class);
    }

    /** Trap 10: whoever goes away does not take the result along. */
    @Test
    void aCallerThatGoesAwayWhileTheHandlerRunsDoesNotCancelTheCompletion() {
        SlowHandler handler = new SlowHandler();
        CompletableFuture<Outcome<String>> outcome =
                call(hapax).runAsync(handler::runAsync).toCompletableFuture();
        handler.lease();
        outcome.cancel(true);
        handler.endWith("receipt");

        await().untilAsserted(() -> assertThat(world.state()).isEqualTo(State.COMPLETED));
    }

    /** Trap 10, earlier: the claim arrives when nobody waits for it any more. Either it runs, or it is given back. */
    @Test
    void aCallerThatGoesAwayDuringTheClaimDoesNotLeaveTheKeyStuck() {
        var claimed = world.store.delayAnswers(Op.CLAIM);
        CompletableFuture<Outcome<String>> outcome = call(hapax)
                .runAsync(lease -> CompletableFuture.completedFuture("receipt"))
                .toCompletableFuture();
        await().until(() -> world.store.calls(Op.CLAIM) == 1);
        outcome.cancel(true);
        claimed.complete(null);

        await().untilAsserted(() -> assertThat(world.state()).isNotEqualTo(State.PROCESSING));
    }

    @Test
    void closingTheStageByTimeoutDoesNotLeaveTheKeyStuck() {
        var claimed = world.store.delayAnswers(Op.CLAIM);
        CompletableFuture<Outcome<String>> outcome = call(hapax)
                .runAsync(lease -> CompletableFuture.completedFuture("receipt"))
                .toCompletableFuture()
                .orTimeout(1, TimeUnit.MILLISECONDS);
        await().until(outcome::isDone);
        await().until(() -> world.store.calls(Op.CLAIM) == 1);
        claimed.complete(null);

        await().untilAsserted(
                        () -> assertThat(call(hapax).run(lease -> "again")).isNotInstanceOf(Outcome.InProgress.class));
    }

    private static CompletableFuture<String> mustNotRunAsync(Lease lease) {
        throw new AssertionError("the handler ran, attempt " + lease.attempt());
    }

    private Outcome<String> runAsync(AsyncHandler<String> handler) {
        return join(call(hapax).runAsync(handler).toCompletableFuture());
    }

    private static Outcome<String> join(CompletableFuture<Outcome<String>> outcome) {
        return outcome.orTimeout(10, TimeUnit.SECONDS).join();
    }
}
