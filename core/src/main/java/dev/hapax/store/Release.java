package dev.hapax.store;

import java.time.Duration;
import java.util.UUID;

/**
 * The owner gives the claim up without an end.
 *
 * @param kind what is to become of the operation
 * @param pendingFor how long somebody may come for a pending one before it ends as {@link Result#timedOut()}
 * @param reason why, for people
 */
public record Release(OperationId id, UUID token, Kind kind, Duration pendingFor, String reason) {

    /** What becomes of an operation that is given up. */
    public enum Kind {
        /** Nothing is known to have happened: the next claim runs it. */
        TRY_AGAIN(State.PENDING),

        /** The handler never ran: the next claim runs it, and the one given up does not count as an attempt. */
        NOT_BEGUN(State.PENDING),

        /** Something may have happened: somebody has to find out. */
        IN_DOUBT(State.IN_DOUBT);

        private final State leadsTo;

        Kind(State leadsTo) {
            this.leadsTo = leadsTo;
        }

        /** The state that the operation has afterwards. */
        public State leadsTo() {
            return leadsTo;
        }

        /** By how much the number of attempts goes down. */
        public int uncounted() {
            return this == NOT_BEGUN ? 1 : 0;
        }
    }
}
