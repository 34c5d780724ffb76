package dev.hapax;

import dev.hapax.store.StoreException;
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
        return send(patience, step, step, false);
    }

    /** @param again what is sent from the second time on */
    <T> CompletableFuture<T> send(
            Duration patience,
            Supplier<? extends CompletionStage<T>> first,
            Supplier<? extends CompletionStage<T>> again) {
        return send(patience, first, again, false);
    }

    /**
     * @param otherWay whether that goes another way, which may mend what was wrong with the first: what the store
     *     refused because of what the caller's thread holds is then sent once more without it
     */
    <T> CompletableFuture<T> send(
            Duration patience,
            Supplier<? extends CompletionStage<T>> first,
            Supplier<? extends CompletionStage<T>> again,
            boolean otherWay) {
        CompletableFuture<T> sent = Stages.call(first::get);
        if (sent.isDone() && !sent.isCompletedExceptionally()) {
            return sent;
        }
        long until = scheduler.nanoTime() + patience.toNanos();
        return orAgain(sent, new Attempt<>(again, until, FIRST_PAUSE, 1, otherWay));
    }

    /**
     * @param sent how often it was sent so far
     * @param otherWay whether it goes another way from the second time on
     */
    private record Attempt<T>(
            Supplier<? extends CompletionStage<T>> step, long until, Duration pause, int sent, boolean otherWay) {

        boolean mayMend(Throwable cause) {
            return cause instanceof StoreUnavailableException
                    || (otherWay && sent == 1 && cause instanceof StoreException);
        }

        boolean mayFollow(long now) {
            return sent < 2 || until - now > pause.toNanos();
        }

        Attempt<T> next() {
            Duration twice = pause.multipliedBy(2);
            Duration longer = twice.compareTo(LONGEST_PAUSE) < 0 ? twice : LONGEST_PAUSE;
            return new Attempt<>(step, until, longer, sent + 1, otherWay);
        }
    }

    private <T> CompletableFuture<T> orAgain(CompletableFuture<T> sent, Attempt<T> attempt) {
        return sent.exceptionallyCompose(error -> {
            Throwable cause = Stages.cause(error);
            if (!attempt.mayMend(cause) || !attempt.mayFollow(scheduler.nanoTime())) {
                return CompletableFuture.failedFuture(cause);
            }
            CompletableFuture<T> later = new CompletableFuture<>();
            try {
                scheduler.schedule(
                        attempt.pause(),
                        () -> Stages.forward(
                                orAgain(Stages.call(() -> attempt.step().get()), attempt.next()), later));
            } catch (RuntimeException | Error closedOrNoThread) {
                cause.addSuppressed(closedOrNoThread);
                later.completeExceptionally(cause);
            }
            return later;
        });
    }
}
