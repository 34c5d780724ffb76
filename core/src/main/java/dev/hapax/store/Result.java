package dev.hapax.store;

import org.jspecify.annotations.Nullable;

/**
 * How an operation ended: what a store keeps, never replaces, and gives to every retry.
 *
 * <p>A result without a payload is a tombstone: the operation ran and must not run again, but what it answered was not
 * kept ({@link #error} says why).
 *
 * @param state {@link State#COMPLETED} or {@link State#FAILED}
 * @param code the payload's code, kept even where the payload was not
 * @param payload the bytes to replay
 * @param error why it failed, or why there is no payload
 */
public record Result(
        State state,
        int code,
        @Nullable Payload payload,
        @Nullable String error) {
    public static final int TIMED_OUT = 408;
    public static final int ABANDONED = 500;

    public Result {
        if (!state.isTerminal()) {
            throw new IllegalArgumentException(state + " is not the end of an operation");
        }
        if (payload != null && payload.code() != code) {
            throw new IllegalArgumentException("the payload says %d, the result %d".formatted(payload.code(), code));
        }
    }

    public static Result completed(Payload payload) {
        return new Result(State.COMPLETED, payload.code(), payload, null);
    }

    /** It ran, and its answer could not be kept. */
    public static Result notStored(int code, String why) {
        return new Result(State.COMPLETED, code, null, why);
    }

    public static Result failed(int code, @Nullable String error) {
        return failed(code, error, null);
    }

    /** @param payload what is kept of the failure besides its code and text */
    public static Result failed(int code, @Nullable String error, @Nullable Payload payload) {
        return new Result(State.FAILED, code, payload, error);
    }

    /** The end of a pending operation that nobody came for. */
    public static Result timedOut() {
        return failed(TIMED_OUT, "nobody claimed the operation before its deadline");
    }

    /** The end of an operation whose owner let the lease run out, under {@link WhenAbandoned#FAIL}. */
    public static Result abandoned() {
        return failed(ABANDONED, "the owner did not finish within its lease");
    }

    /** The end of an operation that was claimed as often as its policy allows. */
    public static Result attemptsExhausted() {
        return failed(ABANDONED, "the operation was attempted as often as its policy allows");
    }
}
