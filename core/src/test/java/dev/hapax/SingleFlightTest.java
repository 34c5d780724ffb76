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
import dev.hapax.Outcome.Replayed;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Equal calls in one process: one deals with the store, the others follow it. */
class SingleFlightTest {
    private static final Policy WAITING =
            Policy.defaults().whenInFlight(WhenInFlight.waitAtMost(Duration.ofMinutes(5)));
    private final World world = World.still();
    private final SlowHandler handler = new SlowHandler();

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    void aThousandWaitingCallersCostOneClaimAndOneFinish() {
        Hapax hapax = world.node(WAITING);
        List<Caller<Outcome<String>>> callers = IntStream.range(0, 1_000)
                .mapToObj(i -> Caller.start(() -> call(hapax).run(handler)))
                .toList();
        handler.lease();
        await().until(() -> callers.stream().allMatch(Caller::waits));
        handler.endWith("receipt");
        List<Outcome<String>> outcomes = callers.stream().map(Caller::result).toList();

        assertThat(handler.runs()).isEqualTo(1);
        assertThat(outcomes).filteredOn(Replayed.class::isInstance).hasSize(999);
        assertThat(outcomes.stream()
                        .filter(Replayed.class::isInstance)
                        .map(it -> replayed(it).value()))
                .containsOnly("receipt");
        assertThat(world.store.calls(Op.CLAIM)).isEqualTo(1);
        assertThat(world.store.calls()).isLessThanOrEqualTo(3);
    }

    @Test
    void aThousandRejectedCallersCostOneClaim() {
        Hapax hapax = world.node(Policy.defaults());
        List<CompletableFuture<Outcome<String>>> first = callers(hapax, 1);
        handler.lease();
        List<Outcome<String>> others = outcomes(callers(hapax, 999));

        assertThat(others).hasOnlyElementsOfType(InProgress.class);
        assertThat(world.store.calls()).isEqualTo(1);
        handler.endWith("receipt");
        outcomes(first);
    }

    @Test
    void callersThatArriveDuringTheClaimShareItsAnswer() {
        call(world.node(WAITING)).run(lease -> "receipt");
        Hapax hapax = world.node(WAITING);
        var claimed = world.store.delayAnswers(Op.CLAIM);
        List<CompletableFuture<Outcome<String>>> callers = callers(hapax, 100);
        await().until(() -> world.store.calls(Op.CLAIM) == 2);
        claimed.complete(null);

        assertThat(outcomes(callers)).hasOnlyElementsOfType(Replayed.class);
        assertThat(handler.runs()).isZero();
    }

    @Test
    void whoIsRejectedIsToldWhenToComeBack() {
        Hapax hapax = world.node(Policy.defaults());
        Caller<Outcome<String>> first = Caller.start(() -> call(hapax).run(handler));
        handler.lease();

        Outcome<String> second = call(hapax).run(mustNotRun());
        assertThat(((InProgress<String>) second).retryAfter()).isPositive().isLessThanOrEqualTo(Duration.ofSeconds(1));
        handler.endWith("receipt");
        first.result();
    }

    @Test
    void acceptAnswersAtOnceToo() {
        Hapax hapax = world.node(Policy.defaults().whenInFlight(WhenInFlight.ACCEPT));
        Caller<Outcome<String>> first = Caller.start(() -> call(hapax).run(handler));
        handler.lease();

        assertThat(call(hapax).run(mustNotRun())).isInstanceOf(InProgress.class);
        handler.endWith("receipt");
        first.result();
    }

    @Test
    void aWaiterGetsTheLeadersTerminalFailure() {
        Hapax hapax = world.node(WAITING);
        Caller<Outcome<String>> leader = Caller.start(() -> call(hapax).run(handler));
        handler.lease();
        Caller<Outcome<String>> waiter =
                Caller.start(() -> call(hapax).run(mustNotRun())).untilItWaits();
        handler.failWith(new TerminalFailure(402, "declined"));

        leader.result();
        assertThat(replayed(waiter.result()).ending().failure().orElseThrow().code())
                .isEqualTo(402);
    }

    @Test
    void aWaiterWhoseLeaderFailedRunsItself() {
        Hapax hapax = world.node(WAITING);
        Caller<Outcome<String>> leader = Caller.start(() -> call(hapax).run(handler));
        handler.lease();
        Caller<Outcome<String>> waiter =
                Caller.start(() -> call(hapax).run(lease -> "second try")).untilItWaits();
        handler.failWith(new IllegalStateException());

        assertThat(leader.failure()).isInstanceOf(IllegalStateException.class);
        assertThat(executed(waiter.result()).attempt()).isEqualTo(2);
    }

    @Test
    void ofManyWaitersWhoseLeaderFailedOneRuns() {
        Hapax hapax = world.node(WAITING);
        Caller<Outcome<String>> leader = Caller.start(() -> call(hapax).run(handler));
        handler.lease();
        SlowHandler second = new SlowHandler();
        List<CompletableFuture<Outcome<String>>> waiters = IntStream.range(0, 50)
                .mapToObj(i -> call(hapax).runAsync(second::runAsync).toCompletableFuture())
                .toList();
        handler.failWith(new IllegalStateException());
        second.lease();
        second.endWith("receipt");

        assertThat(outcomes(waiters)).filteredOn(Replayed.class::isInstance).hasSize(49);
        assertThat(leader.failure()).isNotNull();
        assertThat(second.runs()).isEqualTo(1);
    }

    @Test
    void otherOperationsDoNotFollow() {
        Hapax hapax = world.node(WAITING);
        Caller<Outcome<String>> first = Caller.start(() -> call(hapax).run(handler));
        handler.lease();

        assertThat(executed(keyed(hapax, "k-2").run(lease -> "other")).value()).isEqualTo("other");
        handler.endWith("receipt");
        first.result();
    }

    private List<CompletableFuture<Outcome<String>>> callers(Hapax hapax, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> call(hapax).runAsync(handler::runAsync).toCompletableFuture())
                .toList();
    }

    private static List<Outcome<String>> outcomes(List<CompletableFuture<Outcome<String>>> callers) {
        await().until(() -> callers.stream().allMatch(CompletableFuture::isDone));
        return callers.stream().map(CompletableFuture::join).toList();
    }
}
