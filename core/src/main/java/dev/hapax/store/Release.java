package dev.hapax.store;

import java.time.Duration;
import java.util.UUID;

/**
 * The owner gives the claim back: nothing is known to have happened, the next claim may run it.
 *
 * @param pendingFor how long somebody may come for it before it ends as {@link Result#timedOut()}
 * @param reason why, for people
 */
public record Release(OperationId id, UUID token, Duration pendingFor, String reason) {}
