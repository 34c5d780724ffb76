package dev.hapax;

import static dev.hapax.World.call;
import static dev.hapax.World.executed;
import static dev.hapax.World.keyed;
import static dev.hapax.World.mustNotRun;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import dev.hapax.FaultyStore.Op;
import dev.hapax.store.RenewalStatus;
import dev.hapax.store.ServiceThread;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Trap 30: what users chain to Hapax's stages does not run on the threads that others wait for. */
class ContinuationTest {
    private static final String HANDLERS = "users-handlers";
    private final World world = World.still();
    private final ManualScheduler scheduler = new ManualScheduler();
    private final ExecutorService handlers = Executors.newCachedThreadPool(task -> new Thread(task, HANDLERS));
    private final Hapax hapax = world.node(
            Policy.defaults(), builder -> builder.scheduler(scheduler).handlerExecutor(handlers));
    private final SlowHandler handler = new SlowHandler();

    @AfterEach
    void close() {
        world.close();
        handlers.shutdown();
    }

    @Test
    void ofRunAsyncRunsOnTheHandlerExecutor() {
        CompletableFuture<Void> stored = world.store.delayAnswers(Op.FINISH);
        CompletionStage<String> continued =
                call(hapax).runAsync(ContinuationTest::receipt).thenApply(ContinuationTest::threadName);
        await().until(() -> world.store.calls(Op.FINISH) == 1);
        onStoreThread(() -> stored.complete(null));

        assertThat(join(continued)).isEqualTo(HANDLERS);
    }

    @Test
    void ofAReplayRunsOnTheHandlerExecutor() {
        call(hapax).run(lease -> "receipt");
        CompletableFuture<Void> claimed = world.store.delayAnswers(Op.CLAIM);
        CompletionStage<String> continued =
                call(hapax).runAsync(ContinuationTest::receipt).thenApply(ContinuationTest::threadName);
        onStoreThread(() -> claimed.complete(null));

        assertThat(join(continued)).isEqualTo(HANDLERS);
    }

    @Test
    void ofFindRunsOnTheHandlerExecutor() {
        CompletableFuture<Void> found = world.store.delayAnswers(Op.FIND);
        CompletionStage<String> continued = call(hapax).find().thenApply(ContinuationTest::threadName);
        onStoreThread(() -> found.complete(null));

        assertThat(join(continued)).isEqualTo(HANDLERS);
    }

    @Test
    void ofLostRunsOnTheHandlerExecutor() {
        call(hapax).runAsync(handler::runAsync);
        CompletionStage<String> continued = handler.lease().lost().thenApply(ContinuationTest::threadName);
        world.store.answerRenewals(RenewalStatus.LOST);
        onStoreThread(() -> scheduler.advance(Policy.defaults().lease()));

        assertThat(join(continued)).isEqualTo(HANDLERS);
        handler.endWith("too late");
    }

    @Test
    void mayRunAnotherOperation() {
        CompletableFuture<Void> stored = world.store.delayAnswers(Op.FINISH);
        CompletionStage<Outcome<String>> chained = call(hapax)
                .runAsync(ContinuationTest::receipt)
                .thenApply(outcome -> keyed(hapax, "next").run(lease -> "next"));
        await().until(() -> world.store.calls(Op.FINISH) == 1);
        world.store.heal();
        onStoreThread(() -> stored.complete(null));

        assertThat(executed(join(chained)).value()).isEqualTo("next");
    }

    @Test
    void blockingRunOnAServiceThreadIsRefused() {
        Supplier<Outcome<String>> run = () -> call(hapax).run(mustNotRun());

        assertThatIllegalStateException()
                .isThrownBy(() -> joinOnStoreThread(run))
                .withMessageContaining("runAsync")
                .withMessageContaining("store-1");
        assertThat(world.store.calls()).isZero();
    }

    @Test
    void blockingBatchOnAServiceThreadIsRefused() {
        Supplier<Object> run =
                () -> hapax.scope("payments").runAll(List.of("a"), item -> item, (item, lease) -> mustNotRun());

        assertThatIllegalStateException().isThrownBy(() -> joinOnStoreThread(run));
        assertThat(world.store.calls()).isZero();
    }

    private static void onStoreThread(Runnable task) {
        ServiceThread.factory("store").newThread(task).start();
    }

    private static <T> T joinOnStoreThread(Supplier<T> task) {
        CompletableFuture<T> result = new CompletableFuture<>();
        onStoreThread(() -> Stages.forward(Stages.call(() -> CompletableFuture.completedFuture(task.get())), result));
        return Stages.join(result.orTimeout(10, TimeUnit.SECONDS));
    }

    private static String threadName(Object ignored) {
        return Thread.currentThread().getName();
    }

    private static <T> T join(CompletionStage<T> stage) {
        assertThat(stage.toCompletableFuture()).succeedsWithin(Duration.ofSeconds(60));
        return stage.toCompletableFuture().join();
    }

    private static CompletableFuture<String> receipt(Lease lease) {
        return CompletableFuture.completedFuture("receipt");
    }
}
