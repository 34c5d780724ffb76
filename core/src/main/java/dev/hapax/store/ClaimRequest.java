package dev.hapax.store;

import java.util.UUID;

/**
 * One attempt to become the owner of an operation.
 *
 * @param id the id of {@code key}
 * @param token minted by the claimer before it claims, so that a claim whose answer was lost can be sent again: an
 *     operation that carries our token is ours. Every later write of the owner carries it
 * @param owner who claims, for people
 */
public record ClaimRequest(
        OperationId id, OperationKey key, Fingerprint fingerprint, UUID token, String owner, ClaimTerms terms) {

    public static ClaimRequest of(OperationKey key, Fingerprint fingerprint, String owner, ClaimTerms terms) {
        return new ClaimRequest(key.id(), key, fingerprint, UUID.randomUUID(), owner, terms);
    }
}
