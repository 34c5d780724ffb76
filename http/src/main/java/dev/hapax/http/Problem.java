package dev.hapax.http;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.hapax.store.OperationId;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The errors of this layer, as RFC 9457 has them. Their names, statuses and whether a retry helps are stable.
 *
 * <p>The type of a problem is {@code urn:hapax:problem:} and its name; a {@code Link} says where it is described.
 */
public enum Problem {
    KEY_MISSING(
            400,
            false,
            "The idempotency key is missing",
            "This request is only accepted with an idempotency key, and had none. Nothing was done.",
            "Make a key for each operation, such as a random UUID, and send the same one with every retry of it."),
    KEY_INVALID(
            400,
            false,
            "The idempotency key is malformed",
            "There was something where the key belongs, but not one key of 1 to 255 visible ASCII characters. Nothing"
                    + " was done.",
            "Send one key, in double quotes if it is a header: Idempotency-Key: \"8e03978e-40d5-43dd\"."),
    REQUEST_INVALID(
            400,
            false,
            "The request cannot be understood",
            "The request could mean different things to different readers, or lacks what its key is made from. Nothing"
                    + " was done.",
            "Correct the request as the detail says and send it again."),
    PATH_AMBIGUOUS(
            400,
            false,
            "The path could be read in more than one way",
            "Servers disagree about what such a path means, and one of the meanings is protected. Nothing was done.",
            "Write the path plainly: no dot segments, no empty segments, no parameters, no encoded slashes."),
    NOT_FOUND(
            404,
            false,
            "There is no such operation",
            "No operation of yours has this id, or it was removed after it expired.",
            "Compare the id with the Hapax-Operation-Id header of the answer, and use the same credentials."),
    NO_UPSTREAM(
            404,
            false,
            "There is nothing at this path",
            "No service behind this one has such a path. Nothing was done.",
            "Correct the path."),
    METHOD_NOT_ALLOWED(
            405, false, "The method is not allowed here", "These pages can only be read.", "Use GET or HEAD."),
    REQUEST_TIMEOUT(
            408,
            true,
            "The request did not arrive in time",
            "The rest of the request did not come. Nothing was done.",
            "Send the request again, with the same key."),
    IN_PROGRESS(
            409,
            true,
            "The operation is in progress",
            "Another request with this key is being carried out at the moment.",
            "Wait as long as Retry-After says and send the request again, with the same key."),
    IN_DOUBT(
            409,
            false,
            "Nobody knows how the operation ended",
            "The operation began and its end was not heard of: it may have been carried out. It is not tried again"
                    + " before somebody has found out.",
            "Do not send it under another key: it might be done twice. Ask the operator of the service."),
    RESPONSE_NOT_STORED(
            409,
            false,
            "The operation has run, but its response was not kept",
            "The operation was carried out once and is not carried out again. Its response was too large to keep; the"
                    + " member original_status is the status it had.",
            "Look the outcome up where the service shows it."),
    CLAIM_LOST(
            409,
            true,
            "The operation was taken over by another attempt",
            "This attempt took so long that another one took its place.",
            "Send the request again, with the same key, to get what became of it."),
    EXPIRED(
            410,
            false,
            "The operation has expired",
            "The operation has ended, and the time for which its response was kept is over.",
            "Look the outcome up where the service shows it."),
    REQUEST_TOO_LARGE(
            413,
            false,
            "The request is too large",
            "A protected request is read as a whole before it is carried out, and this one is larger than is read."
                    + " Nothing was done.",
            "Send less at a time."),
    TARGET_TOO_LONG(
            414,
            false,
            "The path and query are too long",
            "The request line is longer than is read. Nothing was done.",
            "Send what is long in the body."),
    KEY_REUSED(
            422,
            false,
            "The idempotency key was used for another request",
            "The key belongs to an earlier request that was not the same as this one. Nothing was done.",
            "Use a new key for a new operation; send a retry exactly as the first time."),
    HEADERS_TOO_LARGE(
            431,
            false,
            "The headers are too large",
            "The headers of the request are larger than is read. Nothing was done.",
            "Send fewer headers, or shorter ones: often it is the cookies."),
    OPERATION_FAILED(
            500,
            false,
            "The operation has failed for good",
            "The operation was tried and failed, and is not tried again under this key.",
            "Find out what became of it before you send it again under a new key."),
    INTERNAL(
            500,
            true,
            "The request failed",
            "Something went wrong on the server.",
            "Send the request again later, with the same key."),
    UPSTREAM_FAILED(
            502,
            true,
            "The upstream did not answer",
            "The service behind this one did not answer, or not with something that can be passed on.",
            "Send the request again later, with the same key."),
    OVERLOADED(
            503,
            true,
            "The server cannot take the request now",
            "There is too much to do at the moment. Nothing was done.",
            "Wait as long as Retry-After says and send the request again, with the same key."),
    UPSTREAM_UNREACHABLE(
            503,
            true,
            "The upstream cannot be reached",
            "The service behind this one could not be reached. Nothing was done.",
            "Wait as long as Retry-After says and send the request again, with the same key."),
    STORE_UNAVAILABLE(
            503,
            true,
            "The record of operations cannot be reached",
            "Without its record the server cannot know whether the operation was carried out before.",
            "Wait as long as Retry-After says and send the request again, with the same key."),
    SHUTTING_DOWN(
            503,
            true,
            "The server is shutting down",
            "The server takes no new requests. Nothing was done.",
            "Wait as long as Retry-After says and send the request again, with the same key."),
    UPSTREAM_TIMEOUT(
            504,
            true,
            "The upstream did not answer in time",
            "The service behind this one was sent the request and took too long. It may still carry it out.",
            "Send the request again later, with the same key if it had one.");

    private static final String RETRY_AFTER_SECONDS = "1";

    private final int status;
    private final boolean retryable;
    private final String title;
    private final String meaning;
    private final String advice;

    Problem(int status, boolean retryable, String title, String meaning, String advice) {
        this.status = status;
        this.retryable = retryable;
        this.title = title;
        this.meaning = meaning;
        this.advice = advice;
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

    /** The stable identifier, such as {@code urn:hapax:problem:in-doubt}. */
    public String type() {
        return "urn:hapax:problem:" + slug();
    }

    String slug() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** What it means, for people. */
    String meaning() {
        return meaning;
    }

    /** What a client should do. */
    String advice() {
        return advice;
    }

    static Optional<Problem> named(String slug) {
        for (Problem problem : values()) {
            if (problem.slug().equals(slug)) {
                return Optional.of(problem);
            }
        }
        return Optional.empty();
    }

    /**
     * The response that tells of it; where a retry may help, {@code Retry-After} says when.
     *
     * @param detail what happened this time, for people; never a secret
     */
    public HttpResponse response(String detail) {
        return response(detail, Facts.NONE);
    }

    HttpResponse response(String detail, Facts facts) {
        int answered = facts.status() == 0 ? status : facts.status();
        byte[] body = Json.write(json -> {
            json.writeStartObject();
            json.writeStringField("type", type());
            json.writeStringField("title", title);
            json.writeNumberField("status", answered);
            json.writeStringField("detail", detail);
            json.writeBooleanField("retryable", retryable);
            facts.write(json);
            json.writeEndObject();
        });
        Headers headers = Headers.of(
                "Content-Type", "application/problem+json",
                "Link", "<" + HttpIdempotency.RESERVED_PATH + "problems/" + slug() + ">; rel=\"describedby\"",
                "Cache-Control", "no-store");
        return new HttpResponse(answered, retryable ? headers.with("Retry-After", RETRY_AFTER_SECONDS) : headers, body);
    }

    /**
     * What is known besides the problem itself.
     *
     * @param status in place of the problem's own; 0 for that
     * @param originalStatus of a response that was not kept; 0 for none
     */
    record Facts(@Nullable OperationId operation, int status, int originalStatus) {
        static final Facts NONE = new Facts(null, 0, 0);

        static Facts of(OperationId operation) {
            return new Facts(operation, 0, 0);
        }

        private void write(JsonGenerator json) throws java.io.IOException {
            if (operation != null) {
                json.writeStringField("operation_id", operation.toString());
            }
            if (originalStatus != 0) {
                json.writeNumberField("original_status", originalStatus);
            }
        }
    }
}
