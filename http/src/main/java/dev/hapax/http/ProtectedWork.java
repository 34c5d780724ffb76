package dev.hapax.http;

import dev.hapax.AsyncHandler;
import dev.hapax.Lease;
import dev.hapax.NotBegunException;
import dev.hapax.OutcomeUnknownException;
import dev.hapax.Policy;
import dev.hapax.RetryableException;
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
    private final Policy scopePolicy;

    ProtectedWork(Work work, String key, HttpPolicy policy, Policy scopePolicy) {
        this.work = work;
        this.key = key;
        this.policy = policy;
        this.scopePolicy = scopePolicy;
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
        if (REFUSALS.contains(response.status())) {
            return CompletableFuture.failedFuture(new Refused(response));
        }
        return response.status() < 500 || policy.serverErrors() == ServerErrors.STORE
                ? CompletableFuture.completedFuture(response)
                : CompletableFuture.failedFuture(new FailedForNow(response));
    }

    private CompletionStage<HttpResponse> fail(Lease lease, Throwable error) {
        if (error instanceof ProblemException refused) {
            return settle(refused.response());
        } else if (isForTheEngine(error) || leavesUnknown(error)) {
            return CompletableFuture.failedFuture(error);
        }
        log.error("The work of operation {} failed", lease.operationId(), error);
        Problem problem = policy.serverErrors() == ServerErrors.STORE ? Problem.OPERATION_FAILED : Problem.INTERNAL;
        return settle(problem.response("the operation failed", Facts.of(lease.operationId())));
    }

    /**
     * What the scope's policy takes for an unknown outcome is not recorded as a failure, unless the route knows better.
     */
    private boolean leavesUnknown(Throwable error) {
        try {
            return policy.serverErrors() == ServerErrors.STORE && scopePolicy.isUnknown(error);
        } catch (RuntimeException | Error broken) {
            return true; // the engine asks again, and says so
        }
    }

    /** Whether an exception itself says what it means for the operation. */
    private static boolean isForTheEngine(Throwable error) {
        return error instanceof OutcomeUnknownException
                || error instanceof TerminalFailure
                || error instanceof NotBegunException
                || error instanceof RetryableException;
    }

    /** Carries a response to its caller past an operation that has not ended. */
    interface Released {
        HttpResponse response();
    }

    /** A response that says that the operation did not run, so that it counts as no attempt. */
    private static final class Refused extends NotBegunException implements Released {
        private static final long serialVersionUID = 1L;

        private final transient HttpResponse response;

        Refused(HttpResponse response) {
            super("the response was " + response.status());
            this.response = response;
        }

        @Override
        public HttpResponse response() {
            return response;
        }
    }

    /** An error of the server that left nothing behind, as the route says. */
    private static final class FailedForNow extends RetryableException implements Released {
        private static final long serialVersionUID = 1L;

        private final transient HttpResponse response;

        FailedForNow(HttpResponse response) {
            super("the response was " + response.status(), null);
            this.response = response;
        }

        @Override
        public HttpResponse response() {
            return response;
        }
    }
}
