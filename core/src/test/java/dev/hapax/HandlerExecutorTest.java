package dev.hapax;

import static dev.hapax.World.call;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.store.State;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** Where asynchronous handlers run, and with what of their caller's thread. */
class HandlerExecutorTest {
    private static final ThreadLocal<String> TRACE = new ThreadLocal<>();
    private static final ContextPropagation CARRY_TRACE = () -> {
        String trace = TRACE.get();
        return task -> () -> {
            TRACE.set(trace);
            try {
                task.run();
            } finally {
                TRACE.remove();
            }
        };
    };
    private final World world = World.still();

    @AfterEach
    void close() {
        TRACE.remove();
        world.close();
    }

    @Test
    void handlersRunOnTheChosenExecutor() {
        ExecutorService chosen = Executors.newSingleThreadExecutor(task -> new Thread(task, "chosen"));
        try {
            Hapax hapax = world.node(Policy.defaults(), builder -> builder.handlerExecutor(chosen));

            assertThat(run(hapax, () -> Thread.currentThread().getName())).isEqualTo("chosen");
        } finally {
            chosen.shutdown();
        }
    }

    @Test
    void refusalOfTheChosenExecutorGivesTheClaimBack() {
        Hapax hapax = world.node(
                Policy.defaults(),
                builder -> builder.handlerExecutor(task -> {
                    throw new RejectedExecutionException("closed");
                }));

        assertThatThrownBy(() -> run(hapax, () -> "receipt")).hasCauseInstanceOf(RejectedExecutionException.class);
        assertThat(world.state()).isEqualTo(State.PENDING);
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void handlersRunOnVirtualThreads() {
        Hapax hapax = world.node(Policy.defaults());

        assertThat(run(hapax, () -> Thread.currentThread().toString())).contains("VirtualThread");
    }

    @Test
    @EnabledForJreRange(max = JRE.JAVA_20)
    void handlersRunOnDaemonThreadsBeforeJava21() {
        Hapax hapax = world.node(Policy.defaults());

        assertThat(run(hapax, () -> Thread.currentThread().getName())).startsWith("hapax-handler-");
    }

    @Test
    void contextOfTheCallerReachesTheHandler() {
        Hapax hapax = world.node(Policy.defaults(), builder -> builder.contextPropagation(CARRY_TRACE));
        TRACE.set("trace-1");

        assertThat(run(hapax, TRACE::get)).isEqualTo("trace-1");
    }

    @Test
    void contextOfTheCallerReachesEveryItemOfABatch() {
        Hapax hapax = world.node(Policy.defaults(), builder -> builder.contextPropagation(CARRY_TRACE));
        TRACE.set("trace-1");
        var results = hapax.scope("payments")
                .batch(List.of("a", "b", "c"), item -> item)
                .returning(String.class)
                .concurrency(1)
                .run((item, lease) -> String.valueOf(TRACE.get()));

        assertThat(results)
                .allSatisfy(
                        it -> assertThat(World.executed(it.outcome()).value()).isEqualTo("trace-1"));
    }

    @Test
    void nothingIsCarriedUnlessChosen() {
        TRACE.set("trace-1");

        assertThat(run(world.node(Policy.defaults()), () -> String.valueOf(TRACE.get())))
                .isEqualTo("null");
    }

    private static String run(Hapax hapax, Supplier<String> handler) {
        CompletionStage<Outcome<String>> outcome =
                call(hapax).runAsync(lease -> CompletableFuture.completedFuture(handler.get()));
        return outcome.toCompletableFuture()
                .orTimeout(10, TimeUnit.SECONDS)
                .join()
                .orElseThrow();
    }
}
