package dev.hapax.store;

import java.time.Duration;
import java.util.UUID;

/**
 * The owner gives the claim up without an end: for the next claim to run, or in doubt, for somebody to find out.
 *
 * @param to {@link State#PENDING} if nothing is known to have happened, {@link State#IN_DOUBT} if something may have
 * @param pendingFor how long somebody may come for a pending one before it ends as {@link Result#timedOut()}
 * @param reason why, for people
 */
public record Release(OperationId id, UUID token, State to, Duration pendingFor, String reason) {
    public Release {
        if (to != State.PENDING && to != State.IN_DOUBT) {
            throw new IllegalArgumentException("a claim is not given up to be " + to);
        }
    }

    /** Nothing is known to have happened: the next claim may run it. */
    public Release(OperationId id, UUID token, Duration pendingFor, String reason) {
        this(id, token, State.PENDING, pendingFor, reason);
    }
}
