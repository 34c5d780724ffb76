package dev.hapax.postgres;

import dev.hapax.store.OperationId;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** What a {@link Batcher} does for its requests. */
interface BatchWork<Q, A> {
    OperationId id(Q request);

    /** How many bytes of its own a request brings along, about. */
    default int weight(Q request) {
        return 0;
    }

    /**
     * Whether a request fails if its caller's thread is in the middle of a transaction. Requests that do not are sent
     * by a worker then.
     */
    default boolean isRefusedInOpenTransaction() {
        return false;
    }

    /** How long a request may wait for a lock in all, from when it was submitted. */
    Duration lockWaitTimeout(Q request);

    /**
     * Does all of them, sorted by id, in as few round trips as it takes.
     *
     * @return what became of each, in the same order
     * @throws SQLException when any of them could not be done; then none counts as done
     */
    List<Decision<A>> run(Session session, LockWait wait, List<Q> requests) throws SQLException;
}
