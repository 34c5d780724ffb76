package dev.hapax;

import static dev.hapax.World.executed;
import static dev.hapax.World.keyed;
import static dev.hapax.World.replayed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.FaultyStore.Op;
import dev.hapax.store.State;
import dev.hapax.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RunAllTest {
    private final World world = World.still();
    private final Hapax hapax = world.node(Policy.defaults());

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    void theClaimsTravelTogetherAndTheOutcomesComeInOrder() {
        List<Task<String>> tasks = IntStream.range(0, 20)
                .mapToObj(i -> task("k-" + i, "receipt " + i))
                .toList();

        List<Outcome<String>> outcomes = join(hapax.runAll(tasks));

        assertThat(world.store.batches()).containsExactly(20);
        for (int i = 0; i < 20; i++) {
            assertThat(executed(outcomes.get(i)).value()).isEqualTo("receipt " + i);
        }
    }

    @Test
    void whatEndedBeforeIsReplayedAmongThem() {
        keyed(hapax, "old").run(lease -> "first");

        List<Outcome<String>> outcomes = join(hapax.runAll(List.of(task("old", "second"), task("new", "second"))));

        assertThat(replayed(outcomes.get(0)).value()).isEqualTo("first");
        assertThat(executed(outcomes.get(1)).value()).isEqualTo("second");
    }

    @Test
    void anOperationThatComesTwiceRunsOnce() {
        CompletableFuture<String> running = new CompletableFuture<>();
        List<Task<String>> tasks = List.of(
                new Task<>(keyed(hapax, "twice"), lease -> running, Runnable::run), task("twice", "must not run"));

        List<CompletionStage<Outcome<String>>> outcomes = hapax.runAll(tasks);

        assertThat(outcomes.get(1).toCompletableFuture().join()).isInstanceOf(Outcome.InProgress.class);
        running.complete("receipt");
        assertThat(executed(outcomes.get(0).toCompletableFuture().join()).value())
                .isEqualTo("receipt");
    }

    @Test
    void aBatchWhoseAnswerIsLostIsAskedForAgain() {
        world.store.loseAnswer(Op.CLAIM, 1);

        List<Outcome<String>> outcomes = join(hapax.runAll(List.of(task("a", "1"), task("b", "2"))));

        assertThat(outcomes)
                .allSatisfy(outcome -> assertThat(executed(outcome).attempt()).isEqualTo(1));
    }

    @Test
    void anExecutorThatRefusesGivesTheClaimBackAndNoAttemptIsCounted() {
        Executor closed = task -> {
            throw new RejectedExecutionException("closed");
        };
        var outcome = hapax.runAll(List.of(new Task<>(keyed(hapax, World.KEY.key()), lease -> done(""), closed)))
                .get(0)
                .toCompletableFuture();

        assertThatThrownBy(outcome::join).hasCauseInstanceOf(RejectedExecutionException.class);
        assertThat(world.state()).isEqualTo(State.PENDING);
        assertThat(executed(join(hapax.runAll(List.of(task(World.KEY.key(), "receipt"))))
                                .get(0))
                        .attempt())
                .isEqualTo(1);
    }

    @Test
    void aStoreThatThrowsFailsAllOfThemAndLeavesNoneBehind() {
        StoreException broken = new StoreException("broken", null);
        world.store.throwForBatches(broken);

        var failed = hapax.runAll(List.of(task("k", "receipt"))).get(0).toCompletableFuture();

        assertThatThrownBy(failed::join).isInstanceOf(CompletionException.class).hasCause(broken);
        assertThat(executed(keyed(hapax, "k").run(lease -> "receipt")).value()).isEqualTo("receipt");
    }

    @Test
    void noneIsNoWork() {
        assertThat(hapax.runAll(List.<Task<String>>of())).isEmpty();
        assertThat(world.store.calls()).isZero();
    }

    private Task<String> task(String key, String result) {
        return new Task<>(keyed(hapax, key), lease -> done(result), Runnable::run);
    }

    private static CompletableFuture<String> done(String result) {
        return CompletableFuture.completedFuture(result);
    }

    private static List<Outcome<String>> join(List<CompletionStage<Outcome<String>>> stages) {
        List<Outcome<String>> outcomes = new ArrayList<>();
        for (CompletionStage<Outcome<String>> stage : stages) {
            outcomes.add(
                    stage.toCompletableFuture().orTimeout(30, TimeUnit.SECONDS).join());
        }
        return outcomes;
    }
}
