package dev.hapax;

import dev.hapax.store.OperationId;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Function;

/**
 * What a caller gets. {@link #orElseThrow} is the short way: the operation's value, or a typed exception for everything
 * else. {@link #fold} handles each case.
 */
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

    /**
     * The operation had ended before; this is what it ended with.
     *
     * @param endedAt when it ended, on the store's clock
     * @param keptUntil until when retries get it, on the store's clock; the same as {@code endedAt} if it was not
     *     recorded, because the call that this one waited for ran without the store
     */
    record Replayed<T>(OperationId operationId, Ending<T> ending, Instant endedAt, Instant keptUntil)
            implements Outcome<T> {
        /** @see Ending#value() */
        public T value() {
            return ending.value();
        }
    }

    /** Another call runs the operation. */
    record InProgress<T>(OperationId operationId, Duration retryAfter) implements Outcome<T> {}

    /** The key was used for another request before. Nothing ran. */
    record Mismatched<T>(OperationId operationId) implements Outcome<T> {}

    /** Whether the operation was done is not known, and an operator has to find out. */
    record InDoubt<T>(OperationId operationId) implements Outcome<T> {}

    /**
     * The value that the handler returned, in this call or in an earlier one.
     *
     * @throws TerminalFailure when the operation failed for good, now or earlier
     * @throws ResultNotStoredException when it ran earlier and its result was not kept
     * @throws OperationInProgressException when another call runs it
     * @throws KeyReusedException when the key was used for another request before
     * @throws OperationInDoubtException when it is not known whether it was done
     */
    default T orElseThrow() {
        return fold(
                Executed::value,
                Replayed::value,
                inProgress -> {
                    throw new OperationInProgressException(inProgress.operationId(), inProgress.retryAfter());
                },
                mismatched -> {
                    throw new KeyReusedException(mismatched.operationId());
                },
                inDoubt -> {
                    throw new OperationInDoubtException(inDoubt.operationId());
                });
    }

    /** Whether the handler did not run in this call because the operation had ended before. */
    default boolean isReplayed() {
        return this instanceof Replayed;
    }

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
