package dev.hapax.store;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A look into a store, and the few things an operator may do by hand. For consoles and command lines: nothing here is
 * on the way of a request. Blocking; safe for use by many threads.
 *
 * <p>What an operator does replaces the token: the owner of before, should it still live, gets
 * {@link Written#CLAIM_LOST}.
 */
public interface StoreInspector {

    /** Operations that fit the search, newest first. */
    List<Snapshot> search(Search search);

    /** One operation as it is now. */
    Optional<Snapshot> find(OperationId id);

    /** What is known to have happened to an operation, in order; empty if there is none. */
    List<Event> timeline(OperationId id);

    /**
     * Takes the claim away from its owner, or gets the operation out of doubt: it becomes {@link State#PENDING}, and
     * the next claim runs it. The attempts so far no longer count against {@code maxAttempts}: what a person releases
     * may run.
     *
     * @param seen the token that the operation had when the person looked at it, so that a release which is sent twice
     *     cannot take the claim from the next owner
     * @param who the person, for the timeline
     * @return what it is now, or empty when there is nothing to release: unknown, pending, ended, or no longer what was
     *     seen
     */
    Optional<Snapshot> forceRelease(OperationId id, UUID seen, String who, String why);

    /**
     * Ends an operation that is in doubt with what somebody found out.
     *
     * @return what it is now, or empty when the operation is not in doubt
     */
    Optional<Snapshot> resolve(OperationId id, Result result, Duration retention, String who);

    /**
     * What to look for; whatever is left {@code null} or empty fits everything.
     *
     * @param keyPrefix the beginning of the key
     * @param olderThan created at least this long ago
     * @param limit how many at most, 1–10,000
     */
    record Search(
            @Nullable String tenant,
            @Nullable String scope,
            @Nullable String keyPrefix,
            Set<State> states,
            Duration olderThan,
            int limit) {
        private static final int MOST = 10_000;

        public Search {
            states = Set.copyOf(states);
            if (limit < 1 || limit > MOST) {
                throw new IllegalArgumentException("limit is " + limit + "; 1 to " + MOST + " are allowed");
            }
        }

        /** The newest hundred of all. */
        public static Search everything() {
            return new Search(null, null, null, Set.of(), Duration.ZERO, 100);
        }

        public Search tenant(String tenant) {
            return new Search(tenant, scope, keyPrefix, states, olderThan, limit);
        }

        public Search scope(String scope) {
            return new Search(tenant, scope, keyPrefix, states, olderThan, limit);
        }

        public Search keyPrefix(String keyPrefix) {
            return new Search(tenant, scope, keyPrefix, states, olderThan, limit);
        }

        public Search states(State... states) {
            return new Search(tenant, scope, keyPrefix, Set.of(states), olderThan, limit);
        }

        public Search olderThan(Duration age) {
            return new Search(tenant, scope, keyPrefix, states, age, limit);
        }

        public Search limit(int limit) {
            return new Search(tenant, scope, keyPrefix, states, olderThan, limit);
        }
    }

    /**
     * One thing that happened to an operation.
     *
     * @param attempt which attempt it belongs to
     * @param actor the owner, the sweeper or the person who did it
     * @param detail more, for people
     */
    record Event(
            Instant at,
            Kind kind,
            int attempt,
            String actor,
            @Nullable String detail) {

        public enum Kind {
            CREATED,
            BEGUN_ANEW,
            CLAIMED,
            TAKEN_OVER,
            RELEASED,
            REOPENED,
            TIMED_OUT,
            ABANDONED,
            PARKED,
            FORCE_RELEASED,
            RESOLVED,
            COMPLETED,
            FAILED
        }
    }
}
