package dev.hapax;

import dev.hapax.store.Claim;
import dev.hapax.store.OperationId;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The operations that calls of this process deal with at the moment. Safe for use by many threads. */
final class Flights {
    private final Map<OperationId, Flight> flights = new ConcurrentHashMap<>();

    /** @return the flight to follow; {@code null} if this one leads */
    @Nullable
    Flight enter(OperationId id, Flight flight) {
        return flights.putIfAbsent(id, flight);
    }

    /** The leader has an answer but no claim: another call may lead now. */
    void answer(OperationId id, Flight flight, Claim claim) {
        flights.remove(id, flight);
        flight.claim().complete(claim);
    }

    /**
     * The leader no longer owns the operation: another call may lead now.
     *
     * @param end what followers get; empty if they have to start over
     */
    void land(OperationId id, Flight flight, Optional<Claim.Replay> end) {
        flights.remove(id, flight);
        flight.end().complete(end);
    }

    /** Whatever the leader was about to do, it did not. */
    void abort(OperationId id, Flight flight, Throwable thrown) {
        flights.remove(id, flight);
        flight.claim().completeExceptionally(thrown);
        flight.end().complete(Optional.empty());
    }
}
