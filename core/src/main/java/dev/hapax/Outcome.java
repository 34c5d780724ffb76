package dev.hapax;

import dev.hapax.store.OperationId;
import java.time.Duration;
import java.util.function.Function;

/** What a caller gets. */
public sealed interface Outcome<T> {

    OperationId operationId();

    /**
     * The handler ran, in this call.
     *
     * @param attempt which attempt it was
     * @param recorded whether retries will get this ending; {@code false} when the store could not be reached after the
     *     work was done, so that a retry after the lease may run it again
     */
    record Executed<T>(OperationId operationId, int attempt, boolean recorded, Ending<T> ending) implements Outcome<T> {
        /** @see Ending#value() */
        public T value() {
            return ending.value();
        }
    }

    /** The operation had ended before; this is what it ended with. */
    record Replayed<T>(OperationId operationId, Ending<T> ending) implements Outcome<T> {
        /** @see Ending#value() */
        public T value() {
            return ending.value();
        }
    }

    /** Another call runs the operation. */
    record InProgress<T>(OperationId operationId, Duration retryAfter) implements Outcome<T> {}

    /** The key was used for another request before. Nothing ran. */
    record Mismatched<T>(OperationId operationId) implements Outcome<T> {}

    /** An earlier owner went away in the middle, and somebody has to find out how far it came. Nothing ran. */
    record InDoubt<T>(OperationId operationId) implements Outcome<T> {}

    default <R> R fold(
            Function<Executed<T>, R> executed,
            Function<Replayed<T>, R> replayed,
            Function<InProgress<T>, R> inProgress,
            Function<Mismatched<T>, R> mismatched,
            Function<InDoubt<T>, R> inDoubt) {
        if (this instanceof Executed<T> it) {
            return executed.apply(it);
        } else if (this instanceof Replayed<T> it) {
            return replayed.apply(it);
        } else if (this instanceof InProgress<T> it) {
            return inProgress.apply(it);
        } else if (this instanceof Mismatched<T> it) {
            return mismatched.apply(it);
        }
        return inDoubt.apply((InDoubt<T>) this);
    }
}
