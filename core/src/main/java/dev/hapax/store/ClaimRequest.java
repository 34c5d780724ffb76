package dev.hapax.store;

import java.time.Duration;
import java.util.UUID;

/**
 * One attempt to become the owner of an operation.
 *
 * @param id the id of {@code key}
 * @param token minted by the claimer before it claims, so that a claim whose answer was lost can be sent again: an
 *     operation that carries this token is the claimer's. Every later write of the owner carries it
 * @param owner the claimer, human-readable
 * @param timeout how long the store may wait for an operation that another transaction has locked, before the claim
 *     fails as unavailable
 */
public record ClaimRequest(
        OperationId id,
        OperationKey key,
        Fingerprint fingerprint,
        UUID token,
        String owner,
        ClaimTerms terms,
        Duration timeout) {
    public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(30);

    public static ClaimRequest of(OperationKey key, Fingerprint fingerprint, String owner, ClaimTerms terms) {
        return new ClaimRequest(key.id(), key, fingerprint, UUID.randomUUID(), owner, terms, DEFAULT_TIMEOUT);
    }
}
