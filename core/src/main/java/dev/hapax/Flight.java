package dev.hapax;

import dev.hapax.store.Claim;
import dev.hapax.store.Fingerprint;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The one call of this process that deals with an operation at the moment; the others follow it.
 *
 * @param claim what the store answered it
 * @param end how the operation ended, if this call won the claim and knows an end; empty if the operation may run again
 */
record Flight(Fingerprint fingerprint, CompletableFuture<Claim> claim, WaitList<Optional<Claim.Replay>> end) {

    Flight(Fingerprint fingerprint) {
        this(fingerprint, new CompletableFuture<>(), new WaitList<>());
    }
}
