package dev.hapax;

import dev.hapax.Admission.Owned;
import dev.hapax.store.Claim;
import dev.hapax.store.Finish;
import dev.hapax.store.Release;
import dev.hapax.store.Result;
import dev.hapax.store.Store;
import dev.hapax.store.StoreUnavailableException;
import dev.hapax.store.Written;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the store how operations ended, or that they did not.
 *
 * <p>A value and a terminal failure are stored, anything else releases the claim. Both are sent again with the same
 * token while the store cannot be reached. If it stays unreachable, the caller still gets its result, marked as
 * unrecorded, and the store is told in the background until the lease ends. A failure to store never counts as a
 * failure of the work.
 */
final class Settlement {
    private static final Logger log = LoggerFactory.getLogger(Settlement.class);
    private static final Duration MAX_PATIENCE = Duration.ofSeconds(10);
    private static final Duration FIRST_ORPHAN_PAUSE = Duration.ofMillis(100);

    private final Store store;
    private final Scheduler scheduler;
    private final StoreRetry retry;
    private final Listeners listeners;
    private final Flights flights;

    Settlement(EngineParts parts) {
        this.store = parts.store();
        this.scheduler = parts.scheduler();
        this.retry = parts.retry();
        this.listeners = parts.listeners();
        this.flights = parts.flights();
    }

    /**
     * Stores the end of an operation.
     *
     * @param failure what the handler threw, if that is what ended it
     * @return whether it was recorded; fails with {@link ClaimLostException} if another owner has the operation
     */
    CompletableFuture<Boolean> finish(Owned<?> owned, Result result, @Nullable TerminalFailure failure) {
        if (!owned.isProtected()) {
            land(owned, Optional.of(replay(result, Duration.ZERO)));
            return CompletableFuture.completedFuture(false);
        }
        Finish finish = finishOf(owned, result);
        owned.lease().settling();
        CompletableFuture<Written> told = send(owned, to -> to.finish(finish));
        return Stages.compose(told, (written, error) -> {
            Duration kept = owned.request().policy().retention();
            land(owned, written == Written.RECORDED ? Optional.of(replay(result, kept)) : Optional.empty());
            if (written == Written.CLAIM_LOST) {
                return CompletableFuture.failedFuture(claimLost(owned));
            }
            if (error != null) {
                unrecorded(owned, finish, failure, Stages.cause(error));
            } else {
                recorded(owned, failure);
            }
            return CompletableFuture.completedFuture(error == null);
        });
    }

    /** By way of the caller's thread first, if it lends it. */
    private CompletableFuture<Written> send(Owned<?> owned, Function<Store, CompletionStage<Written>> step) {
        return retry.send(
                patience(owned.request()),
                () -> step.apply(owned.via()),
                () -> step.apply(store),
                owned.via() != store);
    }

    static Finish finishOf(Owned<?> owned, Result result) {
        Request<?> request = owned.request();
        return new Finish(
                request.id(), owned.lease().token(), result, request.policy().retention());
    }

    /** What the followers of this process get; they need no answer of the store for it. */
    private Claim.Replay replay(Result result, Duration kept) {
        Instant now = scheduler.instant();
        return new Claim.Replay(result, new Claim.Kept(now, now.plus(kept), Duration.ZERO));
    }

    /** Gives the claim up. Empty when there is none, or when the store could not be told. */
    CompletableFuture<Optional<Written>> giveUp(Owned<?> owned, FailureVerdict verdict, String why) {
        if (!owned.isProtected()) {
            land(owned, Optional.empty());
            return CompletableFuture.completedFuture(Optional.empty());
        }
        Release release = release(owned.request(), owned.lease().token(), verdict.release(), why);
        owned.lease().settling();
        return send(owned, to -> to.release(release)).handle((written, error) -> {
            land(owned, Optional.empty());
            if (owned.lease().claimSentAgain() && verdict != FailureVerdict.IN_DOUBT) {
                keepReleasing(release, owned.request().policy().lease());
            }
            if (error != null) {
                log.warn(
                        "Could not release {}, left to its lease: {}",
                        owned.request().id(),
                        error.toString());
            }
            return Optional.ofNullable(written);
        });
    }

    /** Gives a claim up whose handler did not begin, and that nobody follows any more. */
    void releaseUnbegun(Owned<?> owned, String why) {
        Release release = release(owned.request(), owned.lease().token(), Release.Kind.NOT_BEGUN, why);
        retry.send(owned.request().policy().lease(), () -> store.release(release))
                .whenComplete((written, error) -> log.debug("Released {}: {}", release.id(), written, error));
    }

    /**
     * Releases a claim that may have been granted although its claimer never heard of it: it will not run, so that the
     * next call need not wait for its lease, and {@code PARK} does not park what never ran.
     */
    void releaseOrphanedClaim(Request<?> request, UUID token) {
        keepReleasing(
                release(request, token, Release.Kind.NOT_BEGUN, "the claimer did not hear of its claim"),
                request.policy().lease());
    }

    /**
     * A claim that was sent twice may be granted once more after it was given back, and one that was not heard of may
     * still be on its way. So the release is sent again, ever more rarely, until such a claim's lease would be over.
     */
    private void keepReleasing(Release release, Duration lease) {
        keepReleasing(release, scheduler.nanoTime() + lease.toNanos(), FIRST_ORPHAN_PAUSE);
    }

    private void keepReleasing(Release release, long until, Duration pause) {
        Duration left = Duration.ofNanos(Math.max(0, until - scheduler.nanoTime()));
        retry.send(left, () -> store.release(release)).whenComplete((written, error) -> {
            if (until - scheduler.nanoTime() > pause.toNanos()) {
                try {
                    scheduler.schedule(pause, () -> keepReleasing(release, until, pause.multipliedBy(2)));
                } catch (RejectedExecutionException closed) {
                    log.debug("Closed before the claim of {} was released for certain", release.id());
                }
            }
        });
    }

    private static Release release(Request<?> request, UUID token, Release.Kind kind, String why) {
        return new Release(request.id(), token, kind, request.policy().retention(), why);
    }

    private void land(Owned<?> owned, Optional<Claim.Replay> end) {
        owned.keeping().end();
        flights.land(owned.request().id(), owned.flight(), end);
    }

    ClaimLostException claimLost(Owned<?> owned) {
        Request<?> request = owned.request();
        int attempt = owned.lease().attempt();
        log.warn("Attempt {} of operation {} lost its claim to another owner", attempt, request.id());
        listeners.tell(l -> l.claimLost(request.key(), attempt));
        return new ClaimLostException(request.id(), attempt);
    }

    /** The caller has waited long enough. The store is told later, if it comes back before the lease ends. */
    private void unrecorded(Owned<?> owned, Finish finish, @Nullable TerminalFailure failure, Throwable error) {
        Request<?> request = owned.request();
        log.error("Operation {} is done, but the store could not be told; left to its lease", request.id(), error);
        listeners.tell(l -> l.unrecorded(request.key(), owned.lease().attempt(), error));
        if (error instanceof StoreUnavailableException) {
            scheduler.execute(() -> retryFinishInBackground(owned, finish, failure));
        }
    }

    private void retryFinishInBackground(Owned<?> owned, Finish finish, @Nullable TerminalFailure failure) {
        retry.send(owned.request().policy().lease(), () -> store.finish(finish)).whenComplete((written, error) -> {
            if (written == Written.RECORDED) {
                recorded(owned, failure);
            } else if (written == Written.CLAIM_LOST) {
                claimLost(owned);
            } else {
                log.error(
                        "The store could not be told of operation {} at all",
                        owned.request().id(),
                        error);
            }
        });
    }

    /** @param failure what the handler threw, if that is what ended it */
    void recorded(Owned<?> owned, @Nullable TerminalFailure failure) {
        Request<?> request = owned.request();
        int attempt = owned.lease().attempt();
        if (failure == null) {
            Duration took = owned.lease().heldFor(scheduler.nanoTime());
            listeners.tell(l -> l.completed(request.key(), attempt, took));
        } else {
            listeners.tell(l -> l.failed(request.key(), attempt, failure));
        }
    }

    private static Duration patience(Request<?> request) {
        Duration lease = request.policy().lease();
        return lease.compareTo(MAX_PATIENCE) < 0 ? lease : MAX_PATIENCE;
    }
}
