package dev.hapax;

import dev.hapax.Admission.Answered;
import dev.hapax.Admission.Owned;
import dev.hapax.store.Claim;
import dev.hapax.store.Claim.Mismatch;
import dev.hapax.store.Claim.Replay;
import dev.hapax.store.Claim.Running;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.ExpiredLease;
import dev.hapax.store.RenewalStatus;
import dev.hapax.store.Snapshot;
import dev.hapax.store.Store;
import dev.hapax.store.StoreException;
import dev.hapax.store.StoreUnavailableException;
import dev.hapax.store.Written;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Admits calls: in this process one call at a time deals with an operation, the {@link Flight}. It <em>leads</em>: it
 * asks the store. The others <em>follow</em> it and share its answer, so that a storm of equal calls costs one claim.
 * The call that wins the claim owns the operation; the others get an answer, at once or after waiting, as their policy
 * says. A follower whose leader ended without a result starts over.
 *
 * <p>A flight always ends, whatever is thrown on the way: one that stayed in the map would keep its key from ever
 * running again in this process.
 */
final class SingleFlight {
    private static final Logger log = LoggerFactory.getLogger(SingleFlight.class);
    private static final Duration CLAIM_PATIENCE = Duration.ofSeconds(1);
    private static final int MAX_RESUMES = 3;
    private static final Duration ENDLESS = Duration.ofNanos(Long.MAX_VALUE);

    private final Store store;
    private final Scheduler scheduler;
    private final Executor handlers;
    private final StoreRetry retry;
    private final Listeners listeners;
    private final LeaseKeeper keeper;
    private final Waiters waiters;
    private final Settlement settlement;
    private final Engine.Settings settings;
    private final Flights flights;

    SingleFlight(EngineParts parts, LeaseKeeper keeper, Waiters waiters, Settlement settlement) {
        this.store = parts.store();
        this.scheduler = parts.scheduler();
        this.handlers = parts.handlers();
        this.retry = parts.retry();
        this.listeners = parts.listeners();
        this.settings = parts.settings();
        this.flights = parts.flights();
        this.keeper = keeper;
        this.waiters = waiters;
        this.settlement = settlement;
    }

    /**
     * A claim that was sent.
     *
     * @param at when, the first time
     * @param again whether it was sent more than once: one of them may still be on its way
     */
    private record SentClaim(ClaimRequest request, long at, AtomicBoolean again) {
        SentClaim(ClaimRequest request, long at) {
            this(request, at, new AtomicBoolean());
        }
    }

    <T> CompletableFuture<Admission<T>> admit(PendingCall<T> call) {
        Flight mine = new Flight(call.request().fingerprint());
        Flight other = flights.enter(call.id(), mine);
        return other == null ? lead(call, mine) : follow(call, other);
    }

    private <T> CompletableFuture<Admission<T>> lead(PendingCall<T> call, Flight flight) {
        return guarded(call, flight, () -> {
            SentClaim sent = new SentClaim(claimRequest(call.request()), scheduler.nanoTime());
            CompletableFuture<Claim> asked =
                    retry.send(CLAIM_PATIENCE, () -> call.firstClaim().apply(sent.request()), () -> claimAgain(sent));
            return Stages.compose(
                    asked, (claim, error) -> guarded(call, flight, () -> decided(call, flight, sent, claim, error)));
        });
    }

    private CompletionStage<Claim> claimAgain(SentClaim sent) {
        sent.again().set(true);
        return store.claim(sent.request());
    }

    /** Ends the flight, with what was thrown, if it cannot go on. */
    private <T> CompletableFuture<Admission<T>> guarded(
            PendingCall<T> call, Flight flight, Supplier<CompletableFuture<Admission<T>>> step) {
        try {
            return step.get();
        } catch (RuntimeException | Error thrown) {
            flights.abort(call.id(), flight, thrown);
            return CompletableFuture.failedFuture(thrown);
        }
    }

    private <T> CompletableFuture<Admission<T>> decided(
            PendingCall<T> call, Flight flight, SentClaim sent, @Nullable Claim claim, @Nullable Throwable error) {
        if (claim == null) {
            return claimFailed(call, flight, sent, Stages.cause(Objects.requireNonNull(error)));
        }
        reportExpired(claim);
        if (claim instanceof Claim.Won won) {
            return won(call, flight, sent, won);
        }
        flights.answer(call.id(), flight, claim);
        return answerOrWait(call, claim);
    }

    /** An expired lease that a claim found is told once, by that claim. */
    void reportExpired(Claim claim) {
        ExpiredLease lease = claim.expiredLease();
        if (lease != null) {
            ExpiredLeases.report(lease, listeners);
        }
    }

    private <T> CompletableFuture<Admission<T>> won(PendingCall<T> call, Flight flight, SentClaim sent, Claim.Won won) {
        try {
            HeldLease lease = lease(call.request(), sent, won);
            LeaseKeeper.Keeping keeping = keeper.keep(
                    lease,
                    call.request().policy().maxDuration(),
                    () -> flights.land(call.id(), flight, Optional.empty()));
            flight.claim().complete(won);
            return CompletableFuture.completedFuture(new Owned<>(call, lease, flight, keeping, true));
        } catch (RuntimeException | Error thrown) {
            settlement.releaseOrphanedClaim(call.request(), sent.request().token());
            throw thrown;
        }
    }

    private <T> CompletableFuture<Admission<T>> claimFailed(
            PendingCall<T> call, Flight flight, SentClaim sent, Throwable error) {
        boolean refused = error instanceof StoreException && !(error instanceof StoreUnavailableException);
        if (!refused) {
            settlement.releaseOrphanedClaim(call.request(), sent.request().token());
        }
        if (error instanceof StoreUnavailableException
                && call.request().policy().onStoreFailure() == OnStoreFailure.OPEN) {
            return runUnprotected(call, flight, error);
        }
        flights.abort(call.id(), flight, error);
        return refused(call.request(), error);
    }

    private <T> CompletableFuture<Admission<T>> refused(Request<T> request, Throwable error) {
        listeners.tell(l -> l.refused(request.key(), error));
        return CompletableFuture.failedFuture(error);
    }

    /** Without the store, one call at a time still runs an operation in this process. */
    private <T> CompletableFuture<Admission<T>> runUnprotected(PendingCall<T> call, Flight flight, Throwable error) {
        Request<T> request = call.request();
        log.warn("Running {} unprotected, the store cannot be reached: {}", request.id(), error.toString());
        listeners.tell(l -> l.unprotected(request.key(), error));
        Claim.Won won = new Claim.Won(1);
        HeldLease lease = endless(request, claimRequest(request), won);
        Scheduler.Timer hung = scheduler.schedule(request.policy().maxDuration(), () -> {
            flights.land(call.id(), flight, Optional.empty());
            lease.revoke(handlers);
        });
        flight.claim().complete(won);
        return CompletableFuture.completedFuture(new Owned<>(call, lease, flight, hung::cancel, false));
    }

    private <T> CompletableFuture<Admission<T>> follow(PendingCall<T> call, Flight flight) {
        boolean same = flight.fingerprint().equals(call.request().fingerprint());
        return Stages.compose(flight.claim(), (claim, error) -> {
            if (claim == null) {
                Throwable cause = Stages.cause(Objects.requireNonNull(error));
                return cause instanceof StoreUnavailableException ? refused(call.request(), cause) : admitLater(call);
            }
            if (claim instanceof Claim.Won) {
                return same ? followRunning(call, flight) : answered(new Mismatch());
            }
            return same ? answerOrWait(call, claim) : admitLater(call);
        });
    }

    private <T> CompletableFuture<Admission<T>> admitLater(PendingCall<T> call) {
        return CompletableFuture.supplyAsync(() -> admit(call.again(store)), scheduler)
                .thenCompose(admission -> admission);
    }

    private <T> CompletableFuture<Admission<T>> followRunning(PendingCall<T> call, Flight flight) {
        if (!call.request().waits() || !waiters.mayWait()) {
            return answered(new Running(call.request().policy().lease()));
        }
        return waiters.waitFor(flight.end(), call.waitUntil(), Optional.empty())
                .thenComposeAsync(end -> end.isPresent() ? answered(end.get()) : startOver(call), scheduler);
    }

    private <T> CompletableFuture<Admission<T>> answerOrWait(PendingCall<T> call, Claim claim) {
        Request<T> request = call.request();
        if (!(claim instanceof Running) || !request.waits() || !waiters.mayWait()) {
            return answered(claim);
        }
        return waiters.waitForChange(request.id(), call.waitUntil())
                .thenComposeAsync(
                        change -> change.flatMap(found -> replay(request, found))
                                .map(SingleFlight::<T>answered)
                                .orElseGet(() -> startOver(call)),
                        scheduler);
    }

    private static Optional<Claim> replay(Request<?> request, Snapshot found) {
        boolean answers = !found.answersNoMore() && found.fingerprint().equals(request.fingerprint());
        Claim.Kept kept = found.kept();
        return answers && kept != null
                ? Optional.ofNullable(found.result()).map(result -> new Replay(result, kept))
                : Optional.empty();
    }

    private <T> CompletableFuture<Admission<T>> startOver(PendingCall<T> call) {
        if (call.waitUntil() - scheduler.nanoTime() > 0) {
            return admit(call.again(store));
        }
        Request<T> request = call.request();
        Duration timeout = request.timeout();
        return timeout != null && request.timesOutWaiting()
                ? CompletableFuture.failedFuture(new CallTimeoutException(request.id(), timeout))
                : answered(new Running(request.policy().lease()));
    }

    private static <T> CompletableFuture<Admission<T>> answered(Claim claim) {
        return CompletableFuture.completedFuture(new Answered<>(claim));
    }

    /** Whether the handler must not begin yet, because its lease is over on this process's own clock. */
    boolean isTooLate(Owned<?> owned) {
        return owned.lease().isLost();
    }

    /**
     * Renews a lease that ran out before its handler began: because this process stood still, or the answer to its
     * claim or its turn on the executor came late. If another owner has the operation by now, the call starts over.
     */
    <T> CompletableFuture<Admission<T>> resume(Owned<T> owned) {
        if (owned.lease().isRevoked() || owned.lease().resumed() > MAX_RESUMES) {
            return settlement
                    .giveUp(owned.via(store), FailureVerdict.NOT_BEGUN, "its turn came too late")
                    .thenCompose(written -> written.equals(Optional.of(Written.CLAIM_LOST))
                            ? admit(owned.call().again(store))
                            : CompletableFuture.failedFuture(new NotBegunException(
                                    "the handler's turn came later than its lease and its policy allow")));
        }
        return retry.send(CLAIM_PATIENCE, () -> renewed(owned.lease()))
                .handle((status, error) -> {
                    if (status == RenewalStatus.RENEWED) {
                        return CompletableFuture.<Admission<T>>completedFuture(owned);
                    }
                    owned.keeping().end();
                    flights.land(owned.request().id(), owned.flight(), Optional.empty());
                    if (status == RenewalStatus.LOST) {
                        log.info(
                                "Operation {} was taken over before its handler began",
                                owned.request().id());
                        return admit(owned.call().again(store));
                    }
                    settlement.releaseUnbegun(owned.via(store), "its lease ran out before it began");
                    return refused(owned.request(), Stages.cause(Objects.requireNonNull(error)));
                })
                .thenCompose(admission -> admission);
    }

    /** What a lock hides is asked for again. */
    private CompletableFuture<RenewalStatus> renewed(HeldLease lease) {
        return keeper.renewNow(lease)
                .thenCompose(status -> status == RenewalStatus.UNKNOWN
                        ? CompletableFuture.failedFuture(
                                new StoreUnavailableException("the lease could not be renewed", null))
                        : CompletableFuture.completedFuture(status));
    }

    /** The caller went away, or its time was up, before it was admitted: it got the claim after all. */
    <T> void giveBack(Admission<T> admission) {
        if (admission instanceof Owned<T> owned) {
            settlement.giveUp(owned.via(store), FailureVerdict.NOT_BEGUN, "the caller went away");
        }
    }

    ClaimRequest claimRequest(Request<?> request) {
        return new ClaimRequest(
                request.id(),
                request.key(),
                request.fingerprint(),
                UUID.randomUUID(),
                settings.owner(),
                request.policy().terms(),
                request.claimTimeout());
    }

    /** What a transaction owns: nothing follows it, and there is no lease to renew. */
    <T> Owned<T> ownedWithin(PendingCall<T> call, ClaimRequest claim, Claim.Won won) {
        HeldLease lease = endless(call.request(), claim, won);
        return new Owned<>(call, lease, new Flight(call.request().fingerprint()), () -> {}, false);
    }

    private HeldLease lease(Request<?> request, SentClaim sent, Claim.Won won) {
        return lease(request, sent, won, request.policy().lease());
    }

    /** Without a claim in the store there is nothing that could run out. */
    private HeldLease endless(Request<?> request, ClaimRequest claim, Claim.Won won) {
        return lease(request, new SentClaim(claim, scheduler.nanoTime()), won, ENDLESS);
    }

    private HeldLease lease(Request<?> request, SentClaim sent, Claim.Won won, Duration length) {
        return new HeldLease(
                new HeldLease.Claimed(
                        request.id(),
                        sent.request().token(),
                        won,
                        sent.at(),
                        sent.again().get()),
                length,
                settings.downstreamKeys(),
                scheduler);
    }
}
