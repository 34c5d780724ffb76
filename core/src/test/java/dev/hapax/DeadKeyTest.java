package dev.hapax;

import static dev.hapax.World.call;
import static dev.hapax.World.executed;
import static dev.hapax.World.keyed;
import static dev.hapax.World.mustNotRun;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.FaultyStore.Op;
import dev.hapax.codec.Codec;
import dev.hapax.store.ExpiredLease;
import dev.hapax.store.OperationKey;
import dev.hapax.store.State;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whatever is thrown on the way of a call, its key can run again in the same process. */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DeadKeyTest {
    /** Not the OutOfMemoryError that it usually is: JUnit would take that for its own. */
    private final Error broken = new InternalError("unable to create native thread");

    private final World world = World.still();
    private final ManualScheduler scheduler = new ManualScheduler();
    private final Hapax hapax = node(builder -> builder);

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    void executorThatThrowsAnErrorReleasesTheClaim() {
        Executor noThreads = task -> {
            throw new OutOfMemoryError("unable to create native thread");
        };
        CompletionStage<Outcome<String>> refused = call(hapax).runAsync(DeadKeyTest::receipt, noThreads);

        assertThatThrownBy(refused.toCompletableFuture()::join).hasCauseInstanceOf(OutOfMemoryError.class);
        assertThat(world.state()).isEqualTo(State.PENDING);
        assertRunsAsFirstAttempt(hapax);
    }

    /** A pool without threads may queue a task, fail to make a thread for it, and run it later all the same. */
    @Test
    void executorThatThrowsDoesNotRunTheHandlerLater() {
        Queue<Runnable> queue = new LinkedBlockingQueue<>();
        AtomicInteger runs = new AtomicInteger();
        Executor queuesAndThrows = task -> {
            queue.add(task);
            throw broken;
        };
        call(hapax)
                .runAsync(
                        lease -> {
                            runs.incrementAndGet();
                            return receipt(lease);
                        },
                        queuesAndThrows);
        queue.forEach(Runnable::run);

        assertThat(runs).hasValue(0);
    }

    @Test
    void executorThatThrowsAfterTheHandlerKeepsItsResult() {
        Executor runsAndThrows = task -> {
            task.run();
            throw broken;
        };
        CompletionStage<Outcome<String>> outcome = call(hapax).runAsync(DeadKeyTest::receipt, runsAndThrows);

        assertThat(executed(outcome.toCompletableFuture().join()).recorded()).isTrue();
    }

    @Test
    void storeThatThrowsAnErrorLeavesTheKeyAlive() {
        world.store.throwForClaims(broken);
        assertThatThrownBy(() -> call(hapax).run(mustNotRun())).isSameAs(broken);
        world.store.heal();

        assertRunsAsFirstAttempt(hapax);
    }

    @Test
    void schedulerThatThrowsAnErrorReleasesTheClaim() {
        scheduler.refuse(broken);
        assertThatThrownBy(() -> call(hapax).run(mustNotRun())).isSameAs(broken);
        scheduler.recover();

        assertThat(world.state()).isEqualTo(State.PENDING);
        assertRunsAsFirstAttempt(hapax);
    }

    @Test
    void schedulerWithoutATimerLeavesATimedKeyAlive() {
        CompletableFuture<Void> answered = world.store.delayAnswers(Op.CLAIM);
        scheduler.refuse(broken);
        CompletableFuture<Outcome<String>> outcome =
                Stages.call(() -> call(hapax).timeout(Duration.ofSeconds(1)).runAsync(DeadKeyTest::receipt));
        scheduler.recover();
        answered.complete(null);

        assertThat(outcome).satisfiesAnyOf(it -> assertThat(it).succeedsWithin(Duration.ofSeconds(60)), it -> {
            assertThat(it).isCompletedExceptionally();
            assertRunsAsFirstAttempt(hapax);
        });
    }

    @Test
    void schedulerWithoutATimerForARetryReleasesTheClaim() {
        world.store.loseAnswer(Op.CLAIM, 1);
        scheduler.refuse(broken);
        assertThatThrownBy(() -> call(hapax).run(mustNotRun())).isNotNull();
        scheduler.recover();

        assertThat(world.state()).isEqualTo(State.PENDING);
        assertRunsAsFirstAttempt(hapax);
    }

    @Test
    void listenerThatThrowsAnErrorOnATakeOverChangesNothing() {
        Hapax node = node(builder -> builder.listener(new HapaxListener() {
            @Override
            public void leaseExpired(ExpiredLease lease) {
                throw broken;
            }
        }));
        world.claimElsewhere(Policy.defaults());
        world.clock.advance(Policy.defaults().lease());

        assertThat(executed(call(node).run(lease -> "receipt")).recorded()).isTrue();
    }

    @Test
    void listenerThatThrowsAnErrorOnARefusalLeavesTheKeyAlive() {
        Hapax node = node(builder -> builder.listener(new HapaxListener() {
            @Override
            public void refused(OperationKey key, Throwable cause) {
                throw broken;
            }
        }));
        AssertionError refusal = new AssertionError("refused");
        world.store.breakDown(Op.CLAIM, refusal);
        assertThatThrownBy(() -> call(node).run(mustNotRun())).isSameAs(refusal);
        world.store.heal();

        assertRunsAsFirstAttempt(node);
    }

    @Test
    void codecThatThrowsAnErrorOnReplayLeavesTheKeyAlive() {
        call(hapax).run(lease -> "receipt");
        Codec<String> notDecoding = Codec.text().map(it -> it, it -> {
            throw broken;
        });
        assertThatThrownBy(() -> call(hapax).returning(notDecoding).run(mustNotRun()))
                .isSameAs(broken);

        assertThat(call(hapax).run(mustNotRun()).orElseThrow()).isEqualTo("receipt");
    }

    @Test
    void contextThatCannotBeCapturedLeavesTheKeysOfItsBatchAlive() {
        AtomicInteger captured = new AtomicInteger();
        Hapax node = node(builder -> builder.contextPropagation(() -> {
            if (captured.incrementAndGet() == 2) {
                throw broken;
            }
            return UnaryOperator.identity();
        }));
        List<CompletionStage<Outcome<String>>> outcomes = node.runAll(List.of(task(node, "a"), task(node, "b")));

        assertThat(executed(outcomes.get(0).toCompletableFuture().join()).recorded())
                .isTrue();
        assertThatThrownBy(outcomes.get(1).toCompletableFuture()::join).hasCause(broken);
        assertThat(executed(keyed(node, "b").run(lease -> "receipt")).attempt()).isEqualTo(1);
    }

    @Test
    void contextThatCannotBeRestoredReleasesTheClaim() {
        Hapax node = node(builder -> builder.contextPropagation(() -> task -> () -> {
            throw broken;
        }));
        CompletionStage<Outcome<String>> outcome = call(node).runAsync(DeadKeyTest::receipt, ignoringErrors());

        assertThat(outcome.toCompletableFuture())
                .failsWithin(Duration.ofSeconds(60))
                .withThrowableThat()
                .havingCause()
                .isSameAs(broken);
        assertRunsAsFirstAttempt(hapax);
    }

    @Test
    void contextThatCannotBeClearedKeepsTheResult() {
        Hapax node = node(builder -> builder.contextPropagation(() -> task -> () -> {
            task.run();
            throw broken;
        }));
        CompletionStage<Outcome<String>> outcome = call(node).runAsync(DeadKeyTest::receipt, Runnable::run);

        assertThat(executed(outcome.toCompletableFuture().join()).recorded()).isTrue();
    }

    /** As a pool's thread does. */
    private static Executor ignoringErrors() {
        return task -> {
            try {
                task.run();
            } catch (RuntimeException | Error uncaught) {
                assertThat(uncaught).isNotNull();
            }
        };
    }

    private static void assertRunsAsFirstAttempt(Hapax node) {
        assertThat(executed(call(node).run(lease -> "receipt")).attempt()).isEqualTo(1);
    }

    private static Task<String> task(Hapax node, String key) {
        return new Task<>(keyed(node, key), DeadKeyTest::receipt, Runnable::run);
    }

    private static CompletableFuture<String> receipt(Lease lease) {
        return CompletableFuture.completedFuture("receipt");
    }

    private Hapax node(UnaryOperator<Hapax.Builder> settings) {
        return world.node(Policy.defaults(), builder -> settings.apply(builder.scheduler(scheduler)));
    }
}
