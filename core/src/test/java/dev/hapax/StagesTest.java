package dev.hapax;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

class StagesTest {
    @Test
    void foreignStageNeedNotBecomeACompletableFuture() {
        CompletableFuture<String> source = new CompletableFuture<>();
        CompletableFuture<String> own = Stages.call(() -> foreign(source));
        source.complete("value");

        assertThat(own).isCompletedWithValue("value");
    }

    @Test
    void foreignStageCannotBeCompletedFromHere() {
        CompletableFuture<String> source = new CompletableFuture<>();
        Stages.call(() -> foreign(source)).cancel(true);

        assertThat(source).isNotDone();
    }

    @Test
    void foreignStageThatRefusesContinuationsIsAFailure() {
        CompletionStage<String> broken = stage((proxy, method, args) -> {
            throw new UnsupportedOperationException(method.getName());
        });

        assertThatThrownBy(Stages.call(() -> broken)::join)
                .hasCauseInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("whenComplete");
    }

    @Test
    void handlerMayReturnAForeignStage() {
        World world = World.still();
        try (world) {
            Outcome<String> outcome = World.call(world.node(Policy.defaults()))
                    .runAsync(lease -> foreign(CompletableFuture.completedFuture("receipt")))
                    .toCompletableFuture()
                    .join();

            assertThat(outcome.orElseThrow()).isEqualTo("receipt");
        }
    }

    @Test
    void cancellingAHandedOverStageLeavesTheSourceAlone() {
        CompletableFuture<String> source = new CompletableFuture<>();
        Stages.handOver(source, Runnable::run).cancel(true);

        assertThat(source).isNotDone();
    }

    /** A stage of another library: {@code toCompletableFuture} is optional. */
    private static <T> CompletionStage<T> foreign(CompletableFuture<T> source) {
        return stage((proxy, method, args) -> {
            if (method.getName().equals("toCompletableFuture")) {
                throw new UnsupportedOperationException(method.getName());
            }
            try {
                return method.invoke(source, args);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
    }

    @SuppressWarnings("unchecked") // it answers whatever the source does
    private static <T> CompletionStage<T> stage(InvocationHandler behaviour) {
        return (CompletionStage<T>) Proxy.newProxyInstance(
                StagesTest.class.getClassLoader(), new Class<?>[] {CompletionStage.class}, behaviour);
    }
}
