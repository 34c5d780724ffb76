package dev.hapax.http;

import java.util.Set;

/**
 * The part of a route's policy that only HTTP knows. Immutable.
 *
 * @param keyRequired whether a request without a key is refused; otherwise it passes unprotected
 * @param serverErrors what becomes of an operation that ended in a 5xx
 * @param fingerprint what of a request must be the same in a retry
 * @param storedHeaders response headers to keep besides {@link StoredHeaders the usual ones}
 */
public record HttpPolicy(
        boolean keyRequired, ServerErrors serverErrors, FingerprintRule fingerprint, Set<String> storedHeaders) {

    /** @throws IllegalArgumentException when a header that must never be stored is among those to store */
    public HttpPolicy {
        storedHeaders = StoredHeaders.requireStorable(storedHeaders);
    }

    /** What becomes of an operation that ended in a 5xx; a 503 is released whatever is set. */
    public enum ServerErrors {
        /** It may have run: the error is its result. */
        STORE,
        /** A failed handler left nothing behind: a retry runs. */
        RELEASE
    }

    public static HttpPolicy defaults() {
        return new HttpPolicy(true, ServerErrors.STORE, FingerprintRule.WHOLE, Set.of());
    }
}
