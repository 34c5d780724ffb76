package dev.hapax.http;

import dev.hapax.Call;
import dev.hapax.Hapax;
import dev.hapax.Scope;
import dev.hapax.store.OperationKey;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Idempotency as HTTP has it, over a {@link Hapax} and without any server. Safe for use by many threads.
 *
 * <p>An adapter asks {@link #match} before it reads a body. Where that is empty the request passes untouched. Otherwise
 * it reads the body and calls {@link #run}; whatever happens then, the stage completes with the response to send.
 *
 * <p>Every answer carries {@code Hapax-Operation-Id} once the key is known; a replay {@code Idempotent-Replayed: true};
 * the answer of work that was done but could not be recorded {@code Hapax-Recorded: false}. What went wrong inside is
 * logged and never told to a client.
 */
public final class HttpIdempotency {
    /** Where operations and the descriptions of problems are served. */
    public static final String RESERVED_PATH = "/.hapax/";

    /** Reading a larger body takes milliseconds, which a thread that serves many connections does not have. */
    private static final int LARGE_BODY = 64 << 10;

    private static final Logger log = LoggerFactory.getLogger(HttpIdempotency.class);

    private final Hapax hapax;
    private final Routes routes;
    private final TenantSource tenants;
    private final Reserved reserved;

    /** @throws IllegalArgumentException when a route names a scope that was not declared */
    public HttpIdempotency(Hapax hapax, Routes routes, TenantSource tenants) {
        this.hapax = hapax;
        this.routes = routes;
        this.tenants = tenants;
        this.reserved = new Reserved(hapax, routes, tenants);
        for (Route route : routes.routes()) {
            Scope unused = hapax.scope(route.scope()); // refuses one that was not declared
        }
    }

    /**
     * The route that protects a request.
     *
     * @param path as it stood on the request line, without the query
     * @throws ProblemException when the path or the method could mean a protected route to somebody who reads it
     *     differently
     */
    public Optional<Match> match(String method, String path, Headers headers) {
        return routes.match(method, path, headers);
    }

    /** How many bytes of a response's body are kept at most; of a longer one, an adapter need not hold more. */
    public int maxBody(Match match) {
        return hapax.scope(match.route().scope()).policy().maxBody();
    }

    /**
     * Runs the work, or answers in its place.
     *
     * @param executor where the work begins
     * @return never fails: failures are problems, and problems are responses. It completes on a thread that others may
     *     wait for: chain nothing to it that blocks, or name an executor
     */
    public CompletionStage<HttpResponse> run(Match match, HttpRequest request, Work work, Executor executor) {
        return request.body().length <= LARGE_BODY
                ? runFromHere(match, request, work, executor)
                : CompletableFuture.supplyAsync(() -> runFromHere(match, request, work, executor))
                        .thenCompose(response -> response);
    }

    private CompletionStage<HttpResponse> runFromHere(Match match, HttpRequest request, Work work, Executor executor) {
        Route route = match.route();
        try {
            Content content = new Content(request);
            Optional<String> key = Keys.of(route.key(), content, match);
            if (key.isPresent()) {
                return run(match, content, key.get(), work, executor);
            }
        } catch (ProblemException refused) {
            return done(refused.response());
        } catch (RuntimeException | Error broken) {
            log.error("A request for {} cannot be handled", route.path(), broken);
            return done(Problem.INTERNAL.response("the request could not be handled"));
        }
        return route.policy().keyRequired()
                ? done(Problem.KEY_MISSING.response("there is no key in " + Keys.place(route.key())))
                : Unprotected.run(work, executor);
    }

    private CompletionStage<HttpResponse> run(Match match, Content content, String key, Work work, Executor executor) {
        Route route = match.route();
        String tenant = tenants.tenantOf(content.request());
        Scope scope = hapax.scope(route.scope()).tenant(tenant);
        Answers answers = new Answers(new OperationKey(tenant, route.scope(), key).id(), scope.policy());
        try {
            Call<HttpResponse> call = scope.key(key)
                    .fingerprint(Fingerprints.of(content, match))
                    .returning(new ResponseCodec(route.policy()));
            return call.runAsync(new ProtectedWork(work, key, route.policy(), scope.policy()), executor, Runnable::run)
                    .handle((outcome, error) -> error == null ? answers.to(outcome) : answers.to(error));
        } catch (RuntimeException | Error refused) {
            return done(answers.to(refused));
        }
    }

    /** Answers a GET or HEAD below {@link #RESERVED_PATH}: the status of an operation, or what a problem means. */
    public CompletionStage<HttpResponse> reserved(HttpRequest request) {
        return reserved.answer(request);
    }

    static CompletionStage<HttpResponse> done(HttpResponse response) {
        return CompletableFuture.completedFuture(response);
    }
}
