package dev.hapax.messaging.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class LoopThreadTest {

    @Test
    void closeWaitsForTheEndOfTheLoop() {
        CountDownLatch stop = new CountDownLatch(1);
        LoopThread thread = LoopThread.start("loop", new TestLoop(stop::await, stop::countDown));
        assertThat(thread.isRunning()).isTrue();
        thread.close();
        thread.close();

        assertThat(thread.isRunning()).isFalse();
        assertThat(thread.stopped()).isCompleted();
    }

    @Test
    void brokenLoopFailsItsStage() {
        IOException broken = new IOException("broken");
        LoopThread thread = LoopThread.start(
                "loop",
                new TestLoop(
                        () -> {
                            throw broken;
                        },
                        () -> {}));

        assertThat(thread.stopped())
                .failsWithin(Duration.ofSeconds(60))
                .withThrowableOfType(ExecutionException.class)
                .withCause(broken);
        assertThat(thread.isRunning()).isFalse();
    }

    @Test
    void callersCannotCompleteTheStage() {
        CountDownLatch stop = new CountDownLatch(1);
        LoopThread thread = LoopThread.start("loop", new TestLoop(stop::await, stop::countDown));
        thread.stopped().toCompletableFuture().complete(null);

        assertThat(thread.isRunning()).isTrue();
        thread.close();
    }

    @Test
    void closeReturnsInAContinuationOfStopped() {
        CountDownLatch stop = new CountDownLatch(1);
        LoopThread thread = LoopThread.start("loop", new TestLoop(stop::await, stop::countDown));
        CompletionStage<Void> closed = thread.stopped().thenRun(thread::close);
        stop.countDown();

        assertThat(closed).succeedsWithin(Duration.ofSeconds(60));
    }

    @Test
    void closeDoesNotWaitForContinuationsOfStopped() {
        CountDownLatch stop = new CountDownLatch(1);
        LoopThread thread = LoopThread.start("loop", new TestLoop(stop::await, stop::countDown));
        CompletionStage<Void> closed = thread.stopped()
                .thenRun(() -> CompletableFuture.runAsync(thread::close).join());
        stop.countDown();

        assertThat(closed).succeedsWithin(Duration.ofSeconds(60));
    }

    @Test
    void loopMayCloseItself() {
        CompletableFuture<LoopThread> self = new CompletableFuture<>();
        LoopThread thread =
                LoopThread.start("loop", new TestLoop(() -> self.get().close(), () -> {}));
        self.complete(thread);

        assertThat(thread.stopped()).succeedsWithin(Duration.ofSeconds(60));
    }

    @Test
    void settingsWithoutSenseAreRefused() {
        LoopSettings settings = LoopSettings.defaults();
        assertThatThrownBy(() -> settings.withThreads(0)).hasMessageContaining("threads is 0");
        assertThatThrownBy(() -> settings.withHandOver(Duration.ofMillis(-1))).hasMessageContaining("handOver");
    }

    private interface Body {
        void run() throws Exception;
    }

    private record TestLoop(Body body, Runnable stopping) implements LoopThread.Loop {
        @Override
        public void run() throws Exception {
            body.run();
        }

        @Override
        public void stop() {
            stopping.run();
        }
    }
}
