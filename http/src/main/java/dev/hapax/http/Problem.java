package dev.hapax.http;

/**
 * The errors of this layer, as RFC 9457 has them. Their names, statuses and whether a retry helps are stable.
 *
 * <p>The type of a problem is {@code urn:hapax:problem:} and its name; a {@code Link} says where it is described.
 */
public enum Problem {
    KEY_MISSING(400, false, "The idempotency key is missing"),
    KEY_INVALID(400, false, "The idempotency key is malformed"),
    REQUEST_INVALID(400, false, "The request cannot be understood"),
    PATH_AMBIGUOUS(400, false, "The path could be read in more than one way"),
    NOT_FOUND(404, false, "There is no such operation"),
    REQUEST_TIMEOUT(408, true, "The request did not arrive in time"),
    IN_PROGRESS(409, true, "The operation is in progress"),
    IN_DOUBT(409, false, "Nobody knows how the operation ended"),
    RESPONSE_NOT_STORED(409, false, "The operation has run, but its response was not kept"),
    CLAIM_LOST(409, true, "The operation was taken over by another attempt"),
    EXPIRED(410, false, "The operation has expired"),
    REQUEST_TOO_LARGE(413, false, "The request is too large"),
    KEY_REUSED(422, false, "The idempotency key was used for another request"),
    OPERATION_FAILED(500, false, "The operation has failed for good"),
    INTERNAL(500, true, "The request failed"),
    UPSTREAM_FAILED(502, true, "The upstream did not answer"),
    UPSTREAM_UNREACHABLE(503, true, "The upstream cannot be reached"),
    STORE_UNAVAILABLE(503, true, "The record of operations cannot be reached"),
    SHUTTING_DOWN(503, true, "The server is shutting down");

    private final int status;
    private final boolean retryable;
    private final String title;

    Problem(int status, boolean retryable, String title) {
        this.status = status;
        this.retryable = retryable;
        this.title = title;
    }

    public int status() {
        return status;
    }

    /** Whether the same request may succeed later. */
    public boolean retryable() {
        return retryable;
    }

    public String title() {
        return title;
    }

    /** @param detail what happened this time, for people; never a secret */
    public HttpResponse response(String detail) {
        throw new UnsupportedOperationException();
    }
}
