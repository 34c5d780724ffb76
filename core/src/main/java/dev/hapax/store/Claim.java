package dev.hapax.store;

import java.time.Duration;
import java.util.function.Function;

/** A store's answer to a {@link ClaimRequest}. */
public sealed interface Claim {

    /** The operation is ours to run, for the {@code attempt}-th time. */
    record Won(int attempt) implements Claim {}

    /**
     * The operation has ended; this is how.
     *
     * @param answersFor how much longer it answers claims like this one, on the store's clock: for that long the answer
     *     may be given again without asking
     */
    record Replay(Result result, Duration answersFor) implements Claim {
        /** An answer for once: how long it holds is not known. */
        public Replay(Result result) {
            this(result, Duration.ZERO);
        }
    }

    /** Somebody else runs it; the lease ends after {@code remaining} on the store's clock, unless it is renewed. */
    record Running(Duration remaining) implements Claim {}

    /** The key belongs to another request. */
    record Mismatch() implements Claim {}

    /** An owner went away in the middle and somebody has to decide. */
    record InDoubt() implements Claim {}

    default <R> R fold(
            Function<Won, R> won,
            Function<Replay, R> replay,
            Function<Running, R> running,
            Function<Mismatch, R> mismatch,
            Function<InDoubt, R> inDoubt) {
        if (this instanceof Won it) {
            return won.apply(it);
        } else if (this instanceof Replay it) {
            return replay.apply(it);
        } else if (this instanceof Running it) {
            return running.apply(it);
        } else if (this instanceof Mismatch it) {
            return mismatch.apply(it);
        }
        return inDoubt.apply((InDoubt) this);
    }
}
