package dev.hapax.postgres;

import dev.hapax.store.StoreException;
import dev.hapax.store.StoreUnavailableException;
import java.sql.SQLException;

/** What a batch came to for one of its requests. */
sealed interface Decision<A> {

    /** It was done. */
    record Answered<A>(A answer) implements Decision<A> {}

    /** Another transaction holds the row or the table: nothing was done, and it may be tried again later. */
    record Locked<A>(SQLException cause) implements Decision<A> {}

    /** It failed. */
    record Refused<A>(StoreException cause) implements Decision<A> {}

    static <A> Decision<A> answer(A answer) {
        return new Answered<>(answer);
    }

    /** What a failure means for the request that met it. */
    static <A> Decision<A> on(Throwable error) {
        if (error instanceof SQLException e) {
            return SqlErrors.isContention(e) ? new Locked<>(e) : new Refused<>(SqlErrors.translate(e));
        } else if (error instanceof StoreException e) {
            return new Refused<>(e);
        }
        return new Refused<>(new StoreUnavailableException("The batch failed: " + error, error));
    }
}
