package dev.hapax.http;

import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The body of one request, read as far as somebody needs it, and no part twice. Not safe for use by many threads. */
final class Content {
    private final HttpRequest request;
    private final MediaType type;
    private boolean read;
    private @Nullable CanonicalJson json;

    Content(HttpRequest request) {
        this.request = request;
        this.type = MediaType.of(request.headers());
    }

    HttpRequest request() {
        return request;
    }

    MediaType type() {
        return type;
    }

    byte[] body() {
        return request.body();
    }

    /** The codings of the body; empty if it is as it is. */
    String coding() {
        String coding = String.join(",", request.headers().all("Content-Encoding"))
                .strip()
                .toLowerCase(Locale.ROOT);
        return coding.equals("identity") ? "" : coding;
    }

    /** The body as JSON, if it says that it is, and is. */
    Optional<CanonicalJson> json() {
        return type.isJson() && coding().isEmpty() ? read() : Optional.empty();
    }

    /**
     * The body as JSON whatever it says that it is, for who needs a member of it.
     *
     * @return empty if there is no body
     * @throws ProblemException if there is one, and it is not JSON in UTF-8
     */
    Optional<CanonicalJson> requireJson() {
        if (body().length == 0) {
            return Optional.empty();
        }
        Optional<CanonicalJson> read = type.isUtf8() ? read() : Optional.empty();
        if (read.isEmpty()) {
            throw new ProblemException(
                    Problem.REQUEST_INVALID,
                    "the key is in the body, and the body is not JSON in UTF-8 of at most %d levels"
                            .formatted(Json.MAX_DEPTH));
        }
        return read;
    }

    private Optional<CanonicalJson> read() {
        if (!read) {
            json = CanonicalJson.of(body()).orElse(null);
            read = true;
        }
        return Optional.ofNullable(json);
    }
}
