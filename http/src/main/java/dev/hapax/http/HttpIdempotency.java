package dev.hapax.http;

import dev.hapax.Hapax;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/**
 * Idempotency as HTTP has it, over a {@link Hapax} and without any server. Safe for use by many threads.
 *
 * <p>An adapter asks {@link #match} before it reads a body. Where that is empty the request passes untouched. Otherwise
 * it reads the body and calls {@link #run}; whatever happens then, the stage completes with the response to send.
 */
public final class HttpIdempotency {
    /** Where operations and the descriptions of problems are served. */
    public static final String RESERVED_PATH = "/.hapax/";

    public HttpIdempotency(Hapax hapax, Routes routes, TenantSource tenants) {
        throw new UnsupportedOperationException();
    }

    /**
     * The route that protects a request.
     *
     * @param path as it stood on the request line, without the query
     * @throws ProblemException when the path or the method could mean a protected route to somebody who reads it
     *     differently
     */
    public Optional<Match> match(String method, String path, Headers headers) {
        throw new UnsupportedOperationException();
    }

    /**
     * Runs the work, or answers in its place.
     *
     * @param executor where the work begins
     * @return never fails: failures are problems, and problems are responses
     */
    public CompletionStage<HttpResponse> run(Match match, HttpRequest request, Work work, Executor executor) {
        throw new UnsupportedOperationException();
    }

    /** Answers a GET or HEAD below {@link #RESERVED_PATH}: the status of an operation, or what a problem means. */
    public CompletionStage<HttpResponse> reserved(HttpRequest request) {
        throw new UnsupportedOperationException();
    }
}
