package dev.hapax.http;

import dev.hapax.ClaimLostException;
import dev.hapax.Ending;
import dev.hapax.NotBegunException;
import dev.hapax.Outcome;
import dev.hapax.OutcomeUnknownException;
import dev.hapax.Policy;
import dev.hapax.ResultNotStoredException;
import dev.hapax.TerminalFailure;
import dev.hapax.WhenInFlight;
import dev.hapax.http.Problem.Facts;
import dev.hapax.http.ProtectedWork.Released;
import dev.hapax.store.OperationId;
import dev.hapax.store.StoreUnavailableException;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the caller of one operation is told. */
final class Answers {
    private static final Logger log = LoggerFactory.getLogger(Answers.class);

    private final OperationId id;
    private final boolean accept;

    Answers(OperationId id, Policy policy) {
        this.id = id;
        this.accept = policy.whenInFlight().mode() == WhenInFlight.Mode.ACCEPT;
    }

    HttpResponse to(Outcome<HttpResponse> outcome) {
        return outcome.fold(
                executed -> executed(executed),
                replayed -> with(ended(replayed.ending()), Names.REPLAYED, "true"),
                inProgress -> inProgress(inProgress.retryAfter()),
                mismatched -> problem(Problem.KEY_REUSED, "an earlier request with this key was not the same"),
                inDoubt -> problem(Problem.IN_DOUBT, "the end of the operation was not heard of"));
    }

    private HttpResponse executed(Outcome.Executed<HttpResponse> executed) {
        HttpResponse response = own(ended(executed.ending()));
        return executed.recorded() ? response : with(response, Names.RECORDED, "false");
    }

    private HttpResponse ended(Ending<HttpResponse> ending) {
        try {
            return with(ending.value(), Names.OPERATION_ID, id.toString());
        } catch (TerminalFailure failure) {
            return failure.getCause() instanceof Released released
                    ? own(released.response())
                    : own(failed(failure.code(), id));
        } catch (ResultNotStoredException lost) {
            return own(
                    Problem.RESPONSE_NOT_STORED.response("the response was not kept", new Facts(id, 0, lost.code())));
        }
    }

    /** @param code what the failure brought with it; a status, where it can be one */
    static HttpResponse failed(int code, OperationId id) {
        int status = code >= 400 && code <= 599 ? code : 0;
        return Problem.OPERATION_FAILED.response("the operation failed", new Facts(id, status, 0));
    }

    private HttpResponse inProgress(Duration retryAfter) {
        if (!accept) {
            HttpResponse busy = problem(Problem.IN_PROGRESS, "another request with this key is being carried out");
            return with(busy, "Retry-After", seconds(retryAfter));
        }
        byte[] body = Json.write(json -> {
            json.writeStartObject();
            json.writeStringField("id", id.toString());
            json.writeStringField("state", "processing");
            json.writeEndObject();
        });
        Headers headers = Headers.of(
                "Content-Type",
                "application/json",
                "Location",
                Reserved.OPERATIONS + id,
                "Retry-After",
                seconds(retryAfter),
                "Cache-Control",
                "no-store");
        return own(new HttpResponse(202, headers, body));
    }

    /** Whole seconds, rounded up. */
    static String seconds(Duration duration) {
        long rounded = duration.plusNanos(999_999_999).toSeconds();
        return Long.toString(Math.max(1, rounded));
    }

    HttpResponse to(Throwable error) {
        Throwable cause = Unprotected.cause(error);
        if (cause instanceof Released released) {
            return own(released.response());
        } else if (cause instanceof ProblemException refused) {
            return problem(refused.problem(), String.valueOf(refused.getMessage()));
        } else if (cause instanceof OutcomeUnknownException) {
            log.warn("The outcome of operation {} is unknown, a retry runs it again: {}", id, cause.toString());
            return problem(Problem.UPSTREAM_FAILED, "the upstream did not answer");
        } else if (cause instanceof StoreUnavailableException) {
            log.warn("Operation {} was refused, the store cannot be reached: {}", id, cause.toString());
            return problem(Problem.STORE_UNAVAILABLE, "nothing was done");
        } else if (cause instanceof ClaimLostException) {
            return problem(Problem.CLAIM_LOST, "another attempt has taken over");
        } else if (cause instanceof RejectedExecutionException || cause instanceof NotBegunException) {
            log.warn("Operation {} was refused, its work was not begun: {}", id, cause.toString());
            return problem(Problem.OVERLOADED, "the request was not begun");
        }
        log.error("Operation {} could not be handled", id, cause);
        return problem(Problem.INTERNAL, "the request could not be handled");
    }

    private HttpResponse problem(Problem problem, String detail) {
        return own(problem.response(detail, Facts.of(id)));
    }

    /** With what this layer says of it, and nothing that another one said. */
    private HttpResponse own(HttpResponse response) {
        Headers headers = response.headers()
                .without(name -> Names.ON_RESPONSES.contains(name.toLowerCase(Locale.ROOT)))
                .with(Names.OPERATION_ID, id.toString());
        return new HttpResponse(response.status(), headers, response.body(), response.rest());
    }

    private static HttpResponse with(HttpResponse response, String name, String value) {
        return new HttpResponse(
                response.status(), response.headers().with(name, value), response.body(), response.rest());
    }
}
