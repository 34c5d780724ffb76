package dev.hapax.http.servlet;

import dev.hapax.http.Headers;
import dev.hapax.http.HttpIdempotency;
import dev.hapax.http.HttpRequest;
import dev.hapax.http.Match;
import dev.hapax.http.ProblemException;
import dev.hapax.http.servlet.Exchange.Means;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Runs the servlets behind it once per key, and answers every retry. Safe for use by many threads.
 *
 * <p>Map it to {@code /*} for {@code REQUEST} and {@code ASYNC}, with async support, and before any filter that reads
 * the body. Paths of routes are those below the context path. Requests for no protected route pass untouched, and so do
 * forwards and includes. What is below {@code /.hapax/} the filter answers itself.
 *
 * <p>A servlet runs on the thread that the container gave it, and may use all of the API: streams, readers and writers,
 * forms, parts, asynchronous contexts, {@code sendError}, listeners. Its response is held back until it is stored, then
 * sent. A response that is too large to keep, or a stream of events, is recorded as done and sent as it comes, so that
 * no more than the route's limit is held in memory. Cookies go to the first caller only. What a servlet throws counts
 * as a 500; an {@link dev.hapax.OutcomeUnknownException}, and an asynchronous request that runs into its timeout, leave
 * the operation in doubt as the policy says.
 *
 * <p>A servlet finds the {@link dev.hapax.http.Operation} it belongs to under {@link #OPERATION}.
 */
public final class HapaxFilter implements Filter {
    /** The request attribute that holds the {@link dev.hapax.http.Operation}; not there if nothing protects it. */
    public static final String OPERATION = "dev.hapax.http.Operation";

    private final HttpIdempotency idempotency;
    private final Settings settings;
    private final ErrorPage errorPage;

    public HapaxFilter(HttpIdempotency idempotency) {
        this(idempotency, Settings.defaults());
    }

    public HapaxFilter(HttpIdempotency idempotency, Settings settings) {
        this.idempotency = idempotency;
        this.settings = settings;
        this.errorPage = new ErrorPage(settings.errorPage());
    }

    /**
     * How the filter treats messages. An immutable value.
     *
     * @param maxRequestBody the largest body that a protected request may have, in bytes; a larger one is answered with
     *     413
     * @param errorPage a path of this application that renders what {@code sendError} reports; empty for
     *     {@code application/problem+json}
     */
    public record Settings(int maxRequestBody, @Nullable String errorPage) {
        public Settings {
            if (maxRequestBody < 0) {
                throw new IllegalArgumentException("maxRequestBody is " + maxRequestBody + "; it cannot be negative");
            }
            if (errorPage != null && !errorPage.startsWith("/")) {
                throw new IllegalArgumentException("errorPage is \"" + errorPage + "\"; it must begin with a slash");
            }
        }

        /** Bodies of 8 MiB, and no error page. */
        public static Settings defaults() {
            return new Settings(8 << 20, null);
        }

        public Settings maxRequestBody(int bytes) {
            return new Settings(bytes, errorPage);
        }

        public Settings errorPage(String path) {
            return new Settings(maxRequestBody, path);
        }
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        DispatcherType type = request.getDispatcherType();
        Object exchange = request.getAttribute(Exchange.ATTRIBUTE);
        if (type == DispatcherType.ASYNC && exchange instanceof Exchange begun) {
            begun.redispatched(request, response, chain);
        } else if (type == DispatcherType.REQUEST
                && exchange == null
                && request instanceof HttpServletRequest http
                && response instanceof HttpServletResponse answer) {
            route(http, answer, chain);
        } else {
            chain.doFilter(request, response);
        }
    }

    private void route(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        Headers headers = Messages.headers(request);
        Optional<Match> match;
        try {
            match = idempotency.match(request.getMethod(), Messages.path(request), headers);
        } catch (ProblemException refused) {
            RequestBody.discard(request);
            Messages.send(request, response, refused.response());
            return;
        }
        if (match.isPresent()) {
            protect(match.get(), request, response, chain);
        } else if (Messages.path(request).startsWith(HttpIdempotency.RESERVED_PATH)) {
            HttpRequest asked = Messages.request(request, headers, new byte[0]);
            RequestBody.discard(request);
            Messages.send(
                    request,
                    response,
                    idempotency.reserved(asked).toCompletableFuture().join());
        } else {
            chain.doFilter(request, response);
        }
    }

    private void protect(Match match, HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        byte[] body;
        try {
            body = RequestBody.read(request, settings.maxRequestBody());
        } catch (ProblemException refused) {
            Messages.send(request, response, refused.response());
            return;
        }
        HttpRequest whole = Messages.request(request, Messages.headers(request), body);
        Means means = new Means(body, idempotency.maxBody(match), errorPage);
        Exchange exchange = new Exchange(request, response, chain, means);
        exchange.begin(loop -> idempotency.run(match, whole, exchange, loop));
    }
}
