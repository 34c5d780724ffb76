package dev.hapax.postgres;

import dev.hapax.store.StoreUnavailableException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** What one caller asks of a {@link Batcher}, and the answer to it. */
final class PendingRequest<Q, A> {
    private final Q request;
    private final CompletableFuture<A> answer = new CompletableFuture<>();
    private final long submittedAt = System.nanoTime();
    private @Nullable Decision<A> decision;

    PendingRequest(Q request) {
        this.request = request;
    }

    Q request() {
        return request;
    }

    CompletableFuture<A> answer() {
        return answer;
    }

    /** How long ago it was submitted. */
    Duration age() {
        return Duration.ofNanos(System.nanoTime() - submittedAt);
    }

    /** What the last batch came to, if it came to anything. */
    @Nullable
    Decision<A> decision() {
        return decision;
    }

    /** Forgets the last batch. */
    void reopen() {
        decision = null;
    }

    /** Whether there is something to tell the caller. */
    boolean isSettled() {
        return decision != null && !(decision instanceof Decision.Locked);
    }

    /** Waits for the answer, unless interrupted. */
    void await() {
        try {
            answer.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | CancellationException e) {
            return; // the caller finds out when it looks at the answer
        }
    }

    /** What {@link #notifyCaller} is going to tell. */
    void decide(Decision<A> decision) {
        this.decision = decision;
    }

    /** Tells the caller that its request was not seen to the end, unless it has been told something already. */
    void breakOff(Throwable error) {
        answer.completeExceptionally(new StoreUnavailableException("The batch broke off: " + error, error));
    }

    /** Tells the caller, who may go on with other things on this thread. */
    void notifyCaller() {
        if (decision instanceof Decision.Answered<A> answered) {
            answer.complete(answered.answer());
        } else if (decision instanceof Decision.Refused<A> refused) {
            answer.completeExceptionally(refused.cause());
        } else {
            answer.completeExceptionally(new StoreUnavailableException("The batch broke off.", null));
        }
    }
}
