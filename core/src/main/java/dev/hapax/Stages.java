package dev.hapax;

import dev.hapax.store.OperationId;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Waiting for stages, and chaining them without surprises. */
final class Stages {
    private Stages() {}

    /**
     * Calls foreign code whose failures all come as a failed stage. Of a foreign stage only {@code whenComplete} is
     * used: {@code toCompletableFuture} is optional, and what it returns may be completed by anybody.
     */
    static <T> CompletableFuture<T> call(Callable<? extends CompletionStage<T>> step) {
        try {
            CompletionStage<T> stage = step.call();
            if (stage instanceof CompletableFuture<T> future && future.getClass() == CompletableFuture.class) {
                return future;
            }
            CompletableFuture<T> own = new CompletableFuture<>();
            forward(stage, own);
            return own;
        } catch (Throwable thrown) { // a checked one too: not every handler is written in Java
            return CompletableFuture.failedFuture(thrown);
        }
    }

    /**
     * What follows a stage, well or not: at once if the stage is done, which spares the usual path all its machinery.
     */
    static <T, R> CompletableFuture<R> compose(
            CompletableFuture<T> stage, BiFunction<@Nullable T, @Nullable Throwable, CompletableFuture<R>> next) {
        return stage.isDone() && !stage.isCompletedExceptionally()
                ? next.apply(stage.join(), null)
                : stage.handle(next).thenCompose(it -> it);
    }

    static <T> void forward(CompletionStage<T> from, CompletableFuture<T> to) {
        from.whenComplete((value, error) -> complete(to, value, error));
    }

    private static <T> void complete(CompletableFuture<T> stage, @Nullable T value, @Nullable Throwable error) {
        if (error == null) {
            stage.complete(value);
        } else {
            stage.completeExceptionally(cause(error));
        }
    }

    /**
     * The user's own copy of a stage. What the user chains to it runs on {@code executor}, never on a thread that has
     * other callers to tell; and cancelling it cuts nothing.
     */
    static <T> CompletableFuture<T> handOver(CompletableFuture<T> stage, Executor executor) {
        if (stage.isDone()) {
            return stage.copy();
        }
        CompletableFuture<T> own = new CompletableFuture<>();
        stage.whenComplete((value, error) -> {
            try {
                executor.execute(() -> complete(own, value, error));
            } catch (RuntimeException | Error refused) {
                complete(own, value, error);
            }
        });
        return own;
    }

    /** Computes something on an executor, or here if that refuses. */
    static <T> CompletableFuture<T> supply(Supplier<T> value, Executor executor) {
        CompletableFuture<T> supplied = new CompletableFuture<>();
        Runnable step = () -> {
            try {
                supplied.complete(value.get());
            } catch (Throwable thrown) {
                supplied.completeExceptionally(thrown);
            }
        };
        try {
            executor.execute(step);
        } catch (RuntimeException | Error refused) {
            step.run();
        }
        return supplied;
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
