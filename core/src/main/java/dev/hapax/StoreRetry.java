package dev.hapax;

import dev.hapax.store.StoreUnavailableException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * Sends a step to the store again, with growing pauses, while the store cannot be reached. Every step of a store is
 * idempotent, so that it may be sent again although an earlier one may have taken effect.
 *
 * <p>It goes on while its patience lasts, and sends at least twice: a connection that went silent is noticed only after
 * the store's own timeout, which may be longer than the patience.
 */
final class StoreRetry {
    private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    private final Scheduler scheduler;

    StoreRetry(Scheduler scheduler) {
        this.scheduler = scheduler;
    }

    <T> CompletableFuture<T> send(Duration patience, Supplier<? extends CompletionStage<T>> step) {
        return send(patience, step, step);
    }

    /** @param again what is sent from the second time on */
    <T> CompletableFuture<T> send(
            Duration patience,
            Supplier<? extends CompletionStage<T>> first,
            Supplier<? extends CompletionStage<T>> again) {
        CompletableFuture<T> sent = Stages.call(first::get);
        if (sent.isDone() && !sent.isCompletedExceptionally()) {
            return sent;
        }
        return orAgain(sent, new Attempt<>(again, scheduler.nanoTime() + patience.toNanos(), FIRST_PAUSE, 1));
    }

    /** @param sent how often it was sent so far */
    private record Attempt<T>(Supplier<? extends CompletionStage<T>> step, long until, Duration pause, int sent) {
        boolean mayFollow(long now) {
            return sent < 2 || until - now > pause.toNanos();
        }

        Attempt<T> next() {
            Duration twice = pause.multipliedBy(2);
            return new Attempt<>(step, until, twice.compareTo(LONGEST_PAUSE) < 0 ? twice : LONGEST_PAUSE, sent + 1);
        }
    }

    private <T> CompletableFuture<T> orAgain(CompletableFuture<T> sent, Attempt<T> attempt) {
        return sent.exceptionallyCompose(error -> {
            Throwable cause = Stages.cause(error);
            if (!(cause instanceof StoreUnavailableException) || !attempt.mayFollow(scheduler.nanoTime())) {
                return CompletableFuture.failedFuture(cause);
            }
            CompletableFuture<T> later = new CompletableFuture<>();
            try {
                scheduler.schedule(
                        attempt.pause(),
                        () -> Stages.forward(
                                orAgain(Stages.call(() -> attempt.step().get()), attempt.next()), later));
            } catch (RuntimeException | Error noTimer) { // closed, or no thread for it
                later.completeExceptionally(cause);
            }
            return later;
        });
    }
}
