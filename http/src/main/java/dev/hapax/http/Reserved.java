package dev.hapax.http;

import dev.hapax.Hapax;
import dev.hapax.http.Problem.Facts;
import dev.hapax.store.OperationId;
import dev.hapax.store.Snapshot;
import dev.hapax.store.State;
import dev.hapax.store.StoreUnavailableException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is served below {@link HttpIdempotency#RESERVED_PATH}.
 *
 * <p>An operation is shown to its own tenant, and only if its scope is one of the routes': others may share the store.
 * Whoever asks for another one learns nothing, not even that it is there.
 */
final class Reserved {
    static final String OPERATIONS = HttpIdempotency.RESERVED_PATH + "operations/";
    static final String PROBLEMS = HttpIdempotency.RESERVED_PATH + "problems";

    private static final Logger log = LoggerFactory.getLogger(Reserved.class);
    private static final Pattern ID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    private final Hapax hapax;
    private final Set<String> scopes;
    private final TenantSource tenants;

    Reserved(Hapax hapax, Routes routes, TenantSource tenants) {
        this.hapax = hapax;
        this.scopes = routes.routes().stream().map(Route::scope).collect(Collectors.toUnmodifiableSet());
        this.tenants = tenants;
    }

    CompletionStage<HttpResponse> answer(HttpRequest request) {
        boolean head = request.method().equals("HEAD");
        if (!head && !request.method().equals("GET")) {
            HttpResponse refused = Problem.METHOD_NOT_ALLOWED.response("only GET and HEAD are answered here");
            return HttpIdempotency.done(
                    new HttpResponse(refused.status(), refused.headers().with("Allow", "GET, HEAD"), refused.body()));
        }
        CompletionStage<HttpResponse> answer = request.path().startsWith(OPERATIONS)
                ? operation(request, request.path().substring(OPERATIONS.length()))
                : HttpIdempotency.done(page(request.path()));
        return head ? answer.thenApply(Reserved::withoutBody) : answer;
    }

    private static HttpResponse withoutBody(HttpResponse response) {
        return new HttpResponse(response.status(), response.headers(), new byte[0]);
    }

    private CompletionStage<HttpResponse> operation(HttpRequest request, String text) {
        if (!ID.matcher(text).matches()) {
            return HttpIdempotency.done(unknown());
        }
        OperationId id = new OperationId(UUID.fromString(text));
        try {
            String tenant = tenants.tenantOf(request);
            return hapax.find(id).handle((found, error) -> error == null ? show(tenant, found) : failed(id, error));
        } catch (RuntimeException broken) {
            return HttpIdempotency.done(failed(id, broken));
        }
    }

    private HttpResponse show(String tenant, Optional<Snapshot> found) {
        Optional<Snapshot> own = found.filter(it ->
                it.key().tenant().equals(tenant) && scopes.contains(it.key().scope()));
        if (own.isEmpty()) {
            return unknown();
        }
        Snapshot operation = own.get();
        try {
            return show(operation);
        } catch (RuntimeException unreadable) {
            return failed(operation.id(), unreadable);
        }
    }

    private static HttpResponse show(Snapshot operation) {
        if (operation.expired()) {
            return Problem.EXPIRED.response("the operation has expired", Facts.of(operation.id()));
        }
        Headers headers = Headers.of(
                "Content-Type",
                "application/json",
                "Cache-Control",
                "no-store",
                Names.OPERATION_ID,
                operation.id().toString());
        boolean goesOn = operation.state() == State.PROCESSING || operation.state() == State.PENDING;
        return new HttpResponse(200, goesOn ? headers.with("Retry-After", "1") : headers, StatusDocument.of(operation));
    }

    private static HttpResponse unknown() {
        return Problem.NOT_FOUND.response("there is nothing at this path");
    }

    private static HttpResponse failed(OperationId id, Throwable error) {
        Throwable cause = Unprotected.cause(error);
        if (cause instanceof StoreUnavailableException) {
            log.warn("Operation {} cannot be looked up, the store cannot be reached: {}", id, cause.toString());
            return Problem.STORE_UNAVAILABLE.response("the operation could not be looked up");
        }
        log.error("Operation {} cannot be shown", id, cause);
        return Problem.INTERNAL.response("the operation could not be shown");
    }

    private static HttpResponse page(String path) {
        if (path.equals(PROBLEMS) || path.equals(PROBLEMS + "/")) {
            return text(ProblemPages.all());
        } else if (path.startsWith(PROBLEMS + "/")) {
            return Problem.named(path.substring(PROBLEMS.length() + 1))
                    .map(problem -> text(ProblemPages.of(problem)))
                    .orElseGet(Reserved::unknown);
        }
        return unknown();
    }

    private static HttpResponse text(String text) {
        return new HttpResponse(
                200, Headers.of("Content-Type", "text/plain; charset=utf-8"), text.getBytes(StandardCharsets.UTF_8));
    }
}
