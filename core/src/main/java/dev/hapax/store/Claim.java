package dev.hapax.store;

import java.time.Duration;
import java.time.Instant;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A store's answer to a {@link ClaimRequest}. */
public sealed interface Claim {

    /**
     * The operation is the claimer's to run.
     *
     * @param attempt how often it was claimed, this time included
     * @param generation how many operations the id has stood for, this one included
     * @param takenOver the lease that this claim took over because it had expired; {@code null} if there was none
     */
    record Won(int attempt, int generation, @Nullable ExpiredLease takenOver) implements Claim {
        /** The claim of an operation that nobody abandoned, and whose id was not used before. */
        public Won(int attempt) {
            this(attempt, 1, null);
        }
    }

    /**
     * The operation has ended; this is how.
     *
     * @param kept since when and until when
     * @param abandoned the expired lease that made this very claim end the operation; {@code null} if there was none
     */
    record Replay(Result result, Kept kept, @Nullable ExpiredLease abandoned) implements Claim {
        public Replay(Result result, Kept kept) {
            this(result, kept, null);
        }
    }

    /**
     * How long the result of an ended operation is kept.
     *
     * @param endedAt when the operation ended, on the store's clock
     * @param until until when it answers claims, on the store's clock
     * @param answersFor how much longer it answers claims: for that long the answer may be given again without asking
     *     the store. Zero where that is not known
     */
    record Kept(Instant endedAt, Instant until, Duration answersFor) {}

    /** Another owner runs it; its lease ends after {@code remaining} on the store's clock, unless it is renewed. */
    record Running(Duration remaining) implements Claim {}

    /** The key belongs to another request. */
    record Mismatch() implements Claim {}

    /**
     * An owner went away in the middle, and an operator has to decide.
     *
     * @param abandoned the expired lease that made this very claim park the operation; {@code null} if there was none
     */
    record InDoubt(@Nullable ExpiredLease abandoned) implements Claim {
        public InDoubt() {
            this(null);
        }
    }

    /** The expired lease that this claim found and acted on; {@code null} if there was none. */
    default @Nullable ExpiredLease expiredLease() {
        if (this instanceof Won won) {
            return won.takenOver();
        } else if (this instanceof Replay replay) {
            return replay.abandoned();
        }
        return this instanceof InDoubt inDoubt ? inDoubt.abandoned() : null;
    }

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
