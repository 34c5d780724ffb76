package dev.hapax.http;

import dev.hapax.AsyncHandler;
import dev.hapax.Lease;
import dev.hapax.OutcomeUnknownException;
import dev.hapax.TerminalFailure;
import dev.hapax.http.HttpPolicy.ServerErrors;
import dev.hapax.http.Problem.Facts;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
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
                .handle((response, error) -> response != null ? settle(response) : fail(lease, reason(error)))
                .thenCompose(settled -> settled);
    }

    private static Throwable reason(@Nullable Throwable error) {
        return error == null ? new NullPointerException("the work ended without a response") : Unprotected.cause(error);
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
        Problem problem = policy.serverErrors() == ServerErrors.STORE ? Problem.OPERATION_FAILED : Problem.INTERNAL;
        return settle(problem.response("the operation failed", Facts.of(lease.operationId())));
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
