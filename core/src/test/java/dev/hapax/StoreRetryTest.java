package dev.hapax;

import static dev.hapax.World.call;
import static dev.hapax.World.executed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.hapax.FaultyStore.Op;
import dev.hapax.store.StoreException;
import dev.hapax.store.StoreUnavailableException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Steps that are sent again, on a clock that the test moves. */
class StoreRetryTest {
    private static final Duration PATIENCE = Duration.ofSeconds(1);
    private static final Duration LONGER_THAN_ANY_PATIENCE = Duration.ofSeconds(20);
    private final World world = World.still();
    private final ManualScheduler scheduler = new ManualScheduler();
    private final Hapax hapax = world.node(Policy.defaults(), builder -> builder.scheduler(scheduler));
    private final AtomicInteger sent = new AtomicInteger();

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    void sendsTwiceAlthoughTheFirstFailureTookLong() {
        CompletableFuture<String> silent = new CompletableFuture<>();
        CompletableFuture<String> answer = new StoreRetry(scheduler)
                .send(
                        PATIENCE,
                        () -> sent.incrementAndGet() == 1 ? silent : CompletableFuture.completedFuture("answer"));
        scheduler.advance(LONGER_THAN_ANY_PATIENCE);
        silent.completeExceptionally(unavailable());
        scheduler.advance(PATIENCE);

        assertThat(answer).isCompletedWithValue("answer");
    }

    @Test
    void givesUpWhenItsPatienceIsOver() {
        CompletableFuture<String> answer = new StoreRetry(scheduler).send(PATIENCE, () -> {
            sent.incrementAndGet();
            return CompletableFuture.failedFuture(unavailable());
        });
        scheduler.advance(PATIENCE);

        assertThat(answer)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCauseInstanceOf(StoreUnavailableException.class);
        assertThat(sent).hasValueBetween(3, 10);
        assertThat(scheduler.timers()).isZero();
    }

    @Test
    void doesNotSendAgainWhatTheStoreRefused() {
        CompletableFuture<String> answer = new StoreRetry(scheduler).send(PATIENCE, () -> {
            sent.incrementAndGet();
            return CompletableFuture.failedFuture(new StoreException("no such table", null));
        });

        assertThat(answer).isCompletedExceptionally();
        assertThat(sent).hasValue(1);
    }

    @Test
    void claimOnASilentConnectionIsSentAgain() {
        CompletableFuture<Void> silence = world.store.delayCalls(Op.CLAIM);
        CompletableFuture<Outcome<String>> outcome = start();
        endSilence(silence);

        assertThat(executed(join(outcome)).recorded()).isTrue();
        assertThat(world.store.calls(Op.CLAIM)).isEqualTo(2);
    }

    @Test
    void finishOnASilentConnectionIsSentAgain() {
        CompletableFuture<Void> silence = world.store.delayCalls(Op.FINISH);
        CompletableFuture<Outcome<String>> outcome = start();
        await().until(() -> world.store.calls(Op.FINISH) == 1);
        endSilence(silence);

        assertThat(executed(join(outcome)).recorded()).isTrue();
        assertThat(world.store.calls(Op.FINISH)).isEqualTo(2);
    }

    private CompletableFuture<Outcome<String>> start() {
        return call(hapax)
                .runAsync(lease -> CompletableFuture.completedFuture("receipt"))
                .toCompletableFuture();
    }

    /** What the store notices after its own timeout; by then its next connection works. */
    private void endSilence(CompletableFuture<Void> silence) {
        world.store.heal();
        scheduler.advance(LONGER_THAN_ANY_PATIENCE);
        silence.completeExceptionally(unavailable());
        scheduler.advance(PATIENCE);
    }

    private static Outcome<String> join(CompletableFuture<Outcome<String>> outcome) {
        assertThat(outcome).succeedsWithin(Duration.ofSeconds(60));
        return outcome.join();
    }

    private static StoreUnavailableException unavailable() {
        return new StoreUnavailableException("no answer", null);
    }
}
