package dev.hapax;

import dev.hapax.store.OperationId;
import dev.hapax.store.StoreUnavailableException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Waiting for stages, and trying again what may be sent again. */
final class Stages {
    private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    private Stages() {}

    /** A call to a store whose failures all come as a failed stage. */
    static <T> CompletableFuture<T> call(Supplier<CompletionStage<T>> step) {
        try {
            return step.get().toCompletableFuture();
        } catch (Throwable thrown) { // a checked one too: not every handler is written in Java
            return CompletableFuture.failedFuture(thrown);
        }
    }

    /**
     * What follows a stage, well or not: at once if the stage is done, which spares the usual way all its machinery.
     */
    static <T, R> CompletableFuture<R> compose(
            CompletableFuture<T> stage, BiFunction<@Nullable T, @Nullable Throwable, CompletableFuture<R>> next) {
        return stage.isDone() && !stage.isCompletedExceptionally()
                ? next.apply(stage.join(), null)
                : stage.handle(next).thenCompose(it -> it);
    }

    /** Sends a step again, with growing pauses, while the store cannot be reached and {@code patience} lasts. */
    static <T> CompletableFuture<T> persist(
            Background background, Duration patience, Supplier<CompletionStage<T>> step) {
        return persist(background, patience, step, step);
    }

    /** @param again what is sent from the second time on */
    static <T> CompletableFuture<T> persist(
            Background background,
            Duration patience,
            Supplier<CompletionStage<T>> first,
            Supplier<CompletionStage<T>> again) {
        return persist(background, System.nanoTime() + patience.toNanos(), FIRST_PAUSE, call(first), again);
    }

    private static <T> CompletableFuture<T> persist(
            Background background,
            long until,
            Duration pause,
            CompletableFuture<T> stage,
            Supplier<CompletionStage<T>> step) {
        if (stage.isDone() && !stage.isCompletedExceptionally()) {
            return stage;
        }
        return stage.exceptionallyCompose(error -> {
            boolean again =
                    cause(error) instanceof StoreUnavailableException && until - System.nanoTime() > pause.toNanos();
            if (!again) {
                return CompletableFuture.failedFuture(cause(error));
            }
            CompletableFuture<T> later = new CompletableFuture<>();
            Duration twice = pause.multipliedBy(2);
            Duration nextPause = twice.compareTo(LONGEST_PAUSE) < 0 ? twice : LONGEST_PAUSE;
            try {
                background.executeAfter(
                        pause, () -> forward(persist(background, until, nextPause, call(step), step), later));
            } catch (RejectedExecutionException closed) {
                later.completeExceptionally(cause(error));
            }
            return later;
        });
    }

    static <T> void forward(CompletionStage<T> from, CompletableFuture<T> to) {
        from.whenComplete((value, error) -> {
            if (error == null) {
                to.complete(value);
            } else {
                to.completeExceptionally(cause(error));
            }
        });
    }

    /** Waits whatever happens; an interruption is kept for later. */
    static <T> T join(CompletableFuture<T> stage) {
        try {
            return stage.join();
        } catch (CompletionException e) {
            throw unchecked(e);
        }
    }

    /**
     * Waits unless interrupted.
     *
     * @param late gets what comes after that
     */
    static <T> T await(OperationId id, CompletableFuture<T> stage, Consumer<T> late) {
        try {
            return stage.get();
        } catch (ExecutionException e) {
            throw unchecked(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            stage.thenAccept(late);
            throw new CallInterruptedException(id);
        }
    }

    static Throwable cause(Throwable error) {
        boolean wrapped = error instanceof CompletionException || error instanceof ExecutionException;
        return wrapped && error.getCause() != null ? error.getCause() : error;
    }

    private static RuntimeException unchecked(Throwable error) {
        Throwable cause = cause(error);
        if (cause instanceof Error fatal) {
            throw fatal;
        }
        return cause instanceof RuntimeException unchecked ? unchecked : new CompletionException(cause);
    }
}
