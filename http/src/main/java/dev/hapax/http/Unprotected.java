package dev.hapax.http;

import dev.hapax.NotBegunException;
import dev.hapax.OutcomeUnknownException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Work that runs without a key, because its route does not require one. */
final class Unprotected {
    private static final Logger log = LoggerFactory.getLogger(Unprotected.class);

    private Unprotected() {}

    static CompletionStage<HttpResponse> run(Work work, Executor executor) {
        try {
            return CompletableFuture.supplyAsync(() -> begin(work, new Operation(null, null)), executor)
                    .thenCompose(stage -> stage)
                    .thenApply(response -> Objects.requireNonNull(response, "the work ended without a response"))
                    .exceptionally(error -> answer(cause(error)));
        } catch (RejectedExecutionException refused) {
            return HttpIdempotency.done(Problem.OVERLOADED.response("the request was not begun"));
        }
    }

    /** What the work throws at once, its stage fails with. */
    static CompletionStage<HttpResponse> begin(Work work, Operation operation) {
        try {
            return Objects.requireNonNull(work.run(operation), "the work returned no stage");
        } catch (Throwable thrown) {
            return CompletableFuture.failedFuture(thrown);
        }
    }

    static Throwable cause(Throwable error) {
        return error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    }

    private static HttpResponse answer(Throwable error) {
        if (error instanceof ProblemException refused) {
            return refused.response();
        } else if (error instanceof OutcomeUnknownException) {
            return Problem.UPSTREAM_FAILED.response("the upstream did not answer");
        } else if (error instanceof NotBegunException) {
            return Problem.OVERLOADED.response("the request was not begun");
        }
        log.error("A request without a key failed", error);
        return Problem.INTERNAL.response("the request failed");
    }
}
