package dev.hapax.messaging;

import dev.hapax.ClaimLostException;
import dev.hapax.Ending;
import dev.hapax.NotBegunException;
import dev.hapax.OnStoreFailure;
import dev.hapax.Outcome;
import dev.hapax.Policy;
import dev.hapax.messaging.Disposition.Ack;
import dev.hapax.messaging.Disposition.Reject;
import dev.hapax.messaging.Disposition.RetryLater;
import dev.hapax.messaging.Work.ReleasedException;
import dev.hapax.store.OperationId;
import dev.hapax.store.StoreException;
import dev.hapax.store.StoreUnavailableException;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of a message, given what the engine said. A message is acknowledged only when its end is known to be
 * stored, and rejected only for what it is or what its handler said: never for a fault around it.
 *
 * @param inDoubt how long a message in doubt waits before its operation is looked up again; {@code null} if it is
 *     rejected
 */
record Dispositions(
        Policy policy, Backoff backoff, @Nullable Duration inDoubt) {

    Disposition of(Outcome<?> outcome) {
        return outcome.fold(
                executed -> executed.recorded() || policy.onStoreFailure() == OnStoreFailure.OPEN
                        ? of(executed.ending())
                        : new RetryLater(
                                backoff.after(executed.attempt()),
                                "it was handled, and that could not be recorded yet"),
                replayed -> of(replayed.ending()),
                inProgress -> new RetryLater(inProgress.retryAfter(), "another delivery of it is being handled"),
                mismatched -> new Reject("the key of operation %s was used for a message with other content before"
                        .formatted(mismatched.operationId())),
                inDoubt -> inDoubt(inDoubt.operationId()));
    }

    private static Disposition of(Ending<?> ending) {
        return ending.failure()
                .<Disposition>map(failure -> new Reject(describe(failure)))
                .orElseGet(Ack::new);
    }

    private Disposition inDoubt(OperationId id) {
        String reason = "it is unknown how far an earlier attempt of operation %s came".formatted(id);
        return inDoubt == null ? new Reject(reason) : new RetryLater(inDoubt, reason);
    }

    /**
     * Decides by what was thrown. What comes from around the handler does not say that the handler failed, even if it
     * had begun: a commit without an answer, a lease that was lost.
     *
     * @param attempt which attempt failed; 0 if none began
     */
    Disposition of(Throwable thrown, int attempt) {
        if (thrown instanceof ReleasedException) {
            return new RetryLater(Duration.ZERO, "it was released before it began");
        }
        if (thrown instanceof NotBegunException) {
            return new RetryLater(backoff.first(), describe(thrown));
        }
        if (thrown instanceof RejectedExecutionException && attempt == 0) {
            return new RetryLater(backoff.first(), "no thread could be had for it");
        }
        if (thrown instanceof StoreUnavailableException || thrown instanceof ClaimLostException) {
            return new RetryLater(backoff.after(2), describe(thrown));
        }
        if (thrown instanceof StoreException) {
            return new RetryLater(backoff.longest(), describe(thrown));
        }
        return new RetryLater(backoff.after(attempt), describe(thrown), attempt > 0);
    }

    static String describe(Throwable thrown) {
        String message = thrown.getMessage();
        return message == null || message.isBlank() ? thrown.getClass().getName() : message;
    }
}
