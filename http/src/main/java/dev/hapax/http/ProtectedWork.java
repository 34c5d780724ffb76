package dev.hapax.http;

import dev.hapax.AsyncHandler;
import dev.hapax.Lease;
import dev.hapax.OutcomeUnknownException;
import dev.hapax.TerminalFailure;
import dev.hapax.http.HttpPolicy.ServerErrors;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Work as the engine sees it: a response that ends the operation is its value, a response that does not is thrown, so
 * that the claim is given back.
 */
final class ProtectedWork implements AsyncHandler<HttpResponse> {
    private static final Logger log = LoggerFactory.getLogger(ProtectedWork.class);

    /** The operation did not run: the caller is not known, not allowed, too early, too fast, or in somebody's way. */
    private static final Set<Integer> REFUSALS = Set.of(401, 403, 408, 409, 425, 429, 503);

    private final Work work;
    private final String key;
    private final HttpPolicy policy;

    ProtectedWork(Work work, String key, HttpPolicy policy) {
        this.work = work;
        this.key = key;
        this.policy = policy;
    }

    @Override
    public CompletionStage<HttpResponse> run(Lease lease) {
        return Unprotected.begin(work, new Operation(key, lease))
                .handle((response, error) -> error == null ? settle(response) : fail(lease, Unprotected.cause(error)))
                .thenCompose(settled -> settled);
    }

    private CompletionStage<HttpResponse> settle(HttpResponse response) {
        return ends(response.status(), policy.serverErrors())
                ? CompletableFuture.completedFuture(response)
                : CompletableFuture.failedFuture(new Released(response));
    }

    static boolean ends(int status, ServerErrors serverErrors) {
        return !REFUSALS.contains(status) && (status < 500 || serverErrors == ServerErrors.STORE);
    }

    private CompletionStage<HttpResponse> fail(Lease lease, Throwable error) {
        if (error instanceof ProblemException refused) {
            return settle(refused.response());
        } else if (error instanceof OutcomeUnknownException || error instanceof TerminalFailure) {
            return CompletableFuture.failedFuture(error);
        }
        log.error("The work of operation {} failed", lease.operationId(), error);
        return policy.serverErrors() == ServerErrors.STORE
                ? CompletableFuture.completedFuture(Problem.OPERATION_FAILED.response("the operation failed"))
                : CompletableFuture.failedFuture(new Released(Problem.INTERNAL.response("the operation failed")));
    }

    /** Carries a response to its caller past an operation that has not ended. */
    static final class Released extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final transient HttpResponse response;

        Released(HttpResponse response) {
            super("the response was " + response.status(), null, false, false);
            this.response = response;
        }

        HttpResponse response() {
            return response;
        }
    }
}
