package dev.hapax;

import dev.hapax.Admission.Answered;
import dev.hapax.Admission.Owned;
import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.OperationId;
import dev.hapax.store.Recalled;
import dev.hapax.store.Result;
import dev.hapax.store.ServiceThread;
import dev.hapax.store.Store;
import dev.hapax.store.StoreTransaction;
import dev.hapax.store.Written;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way of a call: {@link SingleFlight} admits it, the handler runs, {@link Settlement} tells the store.
 *
 * <p>A blocking call runs its handler on the caller's thread, an asynchronous one on an executor. While it runs the
 * {@link LeaseKeeper} renews its lease; no connection and no lock is held. A handler never begins on a lease that is
 * over on this process's own clock.
 */
final class Engine {
    private static final Logger log = LoggerFactory.getLogger(Engine.class);
    private static final Duration RETRY_AFTER = Duration.ofSeconds(1);

    private final Store store;
    private final Store blocking;
    private final Scheduler scheduler;
    private final Listeners listeners;
    private final Settings settings;
    private final Results results;
    private final Settlement settlement;
    private final SingleFlight singleFlight;

    Engine(Store store, Scheduler scheduler, Executor handlers, Listeners listeners, Settings settings) {
        this.store = store;
        this.blocking = store.forBlockingCallers();
        this.scheduler = scheduler;
        this.listeners = listeners;
        this.settings = settings;
        this.results = new Results(listeners);
        EngineParts parts = new EngineParts(
                store, scheduler, handlers, listeners, new StoreRetry(scheduler), new Flights(), settings);
        this.settlement = new Settlement(parts);
        this.singleFlight = new SingleFlight(
                parts,
                new LeaseKeeper(store, scheduler, handlers, settings.shortestLease()),
                new Waiters(store, scheduler, settings.maxWaiters()),
                settlement);
    }

    /** @param context what is carried from the caller's thread to the handler's */
    record Settings(
            String owner,
            DownstreamKeys downstreamKeys,
            Duration shortestLease,
            int maxWaiters,
            ContextPropagation context) {}

    <T, X extends Exception> Outcome<T> run(Request<T> request, Handler<T, X> handler) throws X {
        requireNoServiceThread();
        Recalled recalled = store.recall(request.key(), request.fingerprint());
        if (recalled != null) {
            return replayed(request, recalled.id(), recalled.replay());
        }
        Admission<T> admission = admitAndWait(request);
        while (admission instanceof Owned<T> owned && singleFlight.isTooLate(owned)) {
            admission = Stages.await(request.id(), singleFlight.resume(owned), singleFlight::giveBack);
        }
        return admission instanceof Owned<T> owned
                ? run(owned, handler)
                : answer(request, ((Answered<T>) admission).claim());
    }

    static void requireNoServiceThread() {
        if (ServiceThread.isCurrent()) {
            throw new IllegalStateException(
                    ("run blocks, and %s is a thread of Hapax or of its store that other calls wait for. Use runAsync, "
                                    + "or chain with thenApplyAsync and an executor of your own")
                            .formatted(Thread.currentThread().getName()));
        }
    }

    /** A call with a timeout does not lend its thread to the store: it could not stop waiting. */
    private <T> Admission<T> admitAndWait(Request<T> request) {
        Store via = request.timeout() == null ? blocking : store;
        return Stages.await(request.id(), admit(pending(request, via, via::claim)), singleFlight::giveBack);
    }

    private <T, X extends Exception> Outcome<T> run(Owned<T> owned, Handler<T, X> handler) throws X {
        claimed(owned);
        T value;
        try {
            value = handler.run(owned.lease());
        } catch (Throwable thrown) {
            FailureVerdict verdict = verdict(owned, thrown);
            switch (verdict) {
                case TERMINAL -> {
                    return insteadOf(thrown, storeFailure(owned, thrown));
                }
                case IN_DOUBT -> {
                    return insteadOf(thrown, leaveInDoubt(owned, thrown));
                }
                default -> {
                    released(owned, thrown, Stages.join(giveUp(owned, verdict, thrown)));
                    throw thrown;
                }
            }
        }
        return Stages.join(storeValue(owned, value));
    }

    /** A caller that gets an outcome instead of an exception still learns that its thread was interrupted. */
    private static <T> Outcome<T> insteadOf(Throwable thrown, CompletableFuture<Outcome<T>> outcome) {
        try {
            return Stages.join(outcome);
        } finally {
            if (thrown instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Without a claim there is nothing to park: whoever calls again runs it again, and has to know. */
    private static FailureVerdict verdict(Owned<?> owned, Throwable thrown) {
        FailureVerdict verdict = FailureVerdict.of(owned.request().policy(), thrown);
        return verdict == FailureVerdict.IN_DOUBT && !owned.isProtected() ? FailureVerdict.RETRYABLE : verdict;
    }

    /** Never blocks. */
    <T> CompletableFuture<Outcome<T>> runAsync(Task<T> task) {
        return runAsync(task, store::claim);
    }

    /** Never blocks; the claims travel together. */
    <T> List<CompletionStage<Outcome<T>>> runAll(List<Task<T>> tasks) {
        List<ClaimRequest> claims = new ArrayList<>();
        List<CompletableFuture<Claim>> answers = new ArrayList<>();
        List<CompletionStage<Outcome<T>>> outcomes = new ArrayList<>();
        for (Task<T> task : tasks) {
            outcomes.add(Stages.call(() -> runAsync(task, claim -> {
                CompletableFuture<Claim> answer = new CompletableFuture<>();
                claims.add(claim);
                answers.add(answer);
                return answer;
            })));
        }
        claimAll(claims, answers);
        return outcomes;
    }

    private void claimAll(List<ClaimRequest> claims, List<CompletableFuture<Claim>> answers) {
        if (claims.isEmpty()) {
            return;
        }
        try {
            List<CompletionStage<Claim>> told = store.claimAll(claims);
            for (int i = 0; i < answers.size(); i++) {
                Stages.forward(told.get(i), answers.get(i));
            }
        } catch (RuntimeException | Error broken) {
            answers.forEach(answer -> answer.completeExceptionally(broken));
        }
    }

    private <T> CompletableFuture<Outcome<T>> runAsync(
            Task<T> task, Function<ClaimRequest, CompletionStage<Claim>> firstClaim) {
        Request<T> request = task.call().request();
        Recalled recalled = store.recall(request.key(), request.fingerprint());
        if (recalled != null) {
            return Stages.call(
                    () -> CompletableFuture.completedFuture(replayed(request, recalled.id(), recalled.replay())));
        }
        UnaryOperator<Runnable> context = settings.context().capture();
        CompletableFuture<Admission<T>> admission = admit(pending(request, store, firstClaim));
        if (admission.isDone() && !admission.isCompletedExceptionally()) {
            return Stages.handOver(
                    Stages.call(() -> proceed(admission.join(), task, context, Runnable::run)), task.completions());
        }
        return Stages.handOver(
                admission.thenCompose(admitted -> proceed(admitted, task, context, task.completions())),
                task.completions());
    }

    /** @param decoding where a stored result is decoded, which is the user's code */
    private <T> CompletableFuture<Outcome<T>> proceed(
            Admission<T> admission, Task<T> task, UnaryOperator<Runnable> context, Executor decoding) {
        if (admission instanceof Answered<T> answered) {
            return Stages.supply(() -> answer(task.call().request(), answered.claim()), decoding);
        }
        Owned<T> owned = (Owned<T>) admission;
        CompletableFuture<Outcome<T>> outcome = new CompletableFuture<>();
        HandlerTurn turn = new HandlerTurn(
                context,
                () -> Stages.forward(onTurn(owned, task, context), outcome),
                refused -> Stages.forward(fail(owned, FailureVerdict.NOT_BEGUN, refused), outcome));
        try {
            task.executor().execute(turn);
        } catch (Throwable refused) { // an OutOfMemoryError for want of a thread, too
            turn.refuse(refused);
        }
        return outcome;
    }

    /** The handler's turn has come: how long ago it was claimed depends on the executor. */
    private <T> CompletableFuture<Outcome<T>> onTurn(Owned<T> owned, Task<T> task, UnaryOperator<Runnable> context) {
        return Stages.call(() -> singleFlight.isTooLate(owned)
                ? singleFlight
                        .resume(owned)
                        .thenCompose(admission -> proceed(admission, task, context, task.completions()))
                : runAsync(owned, task.handler()));
    }

    private <T> CompletableFuture<Outcome<T>> runAsync(Owned<T> owned, AsyncHandler<T> handler) {
        claimed(owned);
        return Stages.call(() -> Objects.requireNonNull(handler.run(owned.lease()), "the handler returned no stage"))
                .handle((value, error) -> error == null ? storeValue(owned, value) : fail(owned, Stages.cause(error)))
                .thenCompose(settled -> settled);
    }

    private <T> CompletableFuture<Outcome<T>> fail(Owned<T> owned, Throwable thrown) {
        FailureVerdict verdict = verdict(owned, thrown);
        return switch (verdict) {
            case TERMINAL -> storeFailure(owned, thrown);
            case IN_DOUBT -> leaveInDoubt(owned, thrown);
            default -> fail(owned, verdict, thrown);
        };
    }

    private <T> CompletableFuture<Outcome<T>> fail(Owned<T> owned, FailureVerdict verdict, Throwable thrown) {
        return giveUp(owned, verdict, thrown).thenCompose(written -> {
            released(owned, thrown, written);
            return CompletableFuture.failedFuture(thrown);
        });
    }

    private CompletableFuture<Optional<Written>> giveUp(Owned<?> owned, FailureVerdict verdict, Throwable thrown) {
        return settlement.giveUp(owned, verdict, TerminalFailure.describe(thrown));
    }

    private void released(Owned<?> owned, Throwable thrown, Optional<Written> written) {
        if (written.equals(Optional.of(Written.RECORDED))) {
            int attempt = owned.lease().attempt();
            listeners.tell(l -> l.released(owned.request().key(), attempt, thrown));
        } else if (written.isPresent()) {
            thrown.addSuppressed(settlement.claimLost(owned));
        }
    }

    private <T> CompletableFuture<Outcome<T>> leaveInDoubt(Owned<T> owned, Throwable thrown) {
        Request<T> request = owned.request();
        return giveUp(owned, FailureVerdict.IN_DOUBT, thrown).thenCompose(written -> {
            if (written.equals(Optional.of(Written.CLAIM_LOST))) {
                ClaimLostException lost = settlement.claimLost(owned);
                lost.addSuppressed(thrown);
                return CompletableFuture.failedFuture(lost);
            }
            log.warn("The outcome of operation {} is unknown, and it is parked for an operator", request.id(), thrown);
            listeners.tell(l -> l.inDoubt(request.key()));
            return CompletableFuture.completedFuture(new Outcome.InDoubt<>(request.id()));
        });
    }

    private <T> CompletableFuture<Outcome<T>> storeValue(Owned<T> owned, T value) {
        return store(owned, results.encode(owned.request(), owned.lease(), value), Ending.value(value));
    }

    private <T> CompletableFuture<Outcome<T>> storeFailure(Owned<T> owned, Throwable thrown) {
        TerminalFailure failure = TerminalFailure.of(thrown);
        return store(owned, results.encode(owned.request(), failure), Ending.failure(failure));
    }

    private <T> CompletableFuture<Outcome<T>> store(Owned<T> owned, Result result, Ending<T> ending) {
        return Stages.compose(settlement.finish(owned, result, ending.failure().orElse(null)), (recorded, error) -> {
            if (recorded == null) {
                return CompletableFuture.failedFuture(Stages.cause(Objects.requireNonNull(error)));
            }
            return CompletableFuture.completedFuture(
                    new Outcome.Executed<>(owned.request().id(), owned.lease().attempt(), recorded, ending));
        });
    }

    /** Runs inside the caller's transaction. */
    <T, X extends Exception> Outcome<T> runWithin(
            StoreTransaction transaction, Request<T> request, Handler<T, X> handler) throws X {
        ClaimRequest claimRequest = singleFlight.claimRequest(request);
        Claim claim = transaction.claim(claimRequest);
        singleFlight.reportExpired(claim);
        if (!(claim instanceof Claim.Won won)) {
            return answer(request, claim);
        }
        Owned<T> owned = singleFlight.ownedWithin(pending(request, store, store::claim), claimRequest, won);
        claimed(owned);
        return new TransactionalRun<>(transaction, owned, settlement, results, listeners).run(handler);
    }

    private <T> PendingCall<T> pending(
            Request<T> request, Store via, Function<ClaimRequest, CompletionStage<Claim>> firstClaim) {
        long waitUntil = scheduler.nanoTime() + request.longestWait().toNanos();
        return new PendingCall<>(request, via, firstClaim, waitUntil);
    }

    /** Fails with {@link CallTimeoutException} when it takes too long; a claim that is won after that is given back. */
    private <T> CompletableFuture<Admission<T>> admit(PendingCall<T> call) {
        CompletableFuture<Admission<T>> admitted = singleFlight.admit(call);
        Duration timeout = call.request().timeout();
        if (timeout == null || admitted.isDone()) {
            return admitted;
        }
        CompletableFuture<Admission<T>> inTime = new CompletableFuture<>();
        Scheduler.Timer timer =
                schedule(timeout, () -> inTime.completeExceptionally(new CallTimeoutException(call.id(), timeout)));
        admitted.whenComplete((admission, error) -> {
            timer.cancel();
            if (error != null) {
                inTime.completeExceptionally(Stages.cause(error));
            } else if (!inTime.complete(admission)) {
                singleFlight.giveBack(admission);
            }
        });
        return inTime;
    }

    /** Once closed, or without a thread for the timer, nothing times out. */
    private Scheduler.Timer schedule(Duration delay, Runnable task) {
        try {
            return scheduler.schedule(delay, task);
        } catch (RuntimeException | Error closedOrNoThread) {
            log.warn("A call goes on without its timeout: {}", closedOrNoThread.toString());
            return () -> {};
        }
    }

    private void claimed(Owned<?> owned) {
        listeners.tell(l -> l.claimed(owned.request().key(), owned.lease().attempt()));
    }

    private <T> Outcome<T> answer(Request<T> request, Claim claim) {
        return claim.fold(
                won -> {
                    throw new AssertionError("a claim that was won is run, not answered");
                },
                replay -> replayed(request, request.id(), replay),
                running -> {
                    listeners.tell(l -> l.inProgress(request.key()));
                    return new Outcome.InProgress<T>(request.id(), shorter(running.remaining(), RETRY_AFTER));
                },
                mismatch -> {
                    listeners.tell(l -> l.mismatched(request.key()));
                    return new Outcome.Mismatched<T>(request.id());
                },
                inDoubt -> {
                    listeners.tell(l -> l.inDoubt(request.key()));
                    return new Outcome.InDoubt<T>(request.id());
                });
    }

    private <T> Outcome<T> replayed(Request<T> request, OperationId id, Claim.Replay replay) {
        listeners.tell(l -> l.replayed(request.key()));
        return new Outcome.Replayed<>(
                id,
                Results.decode(request, replay.result()),
                replay.kept().endedAt(),
                replay.kept().until());
    }

    private static Duration shorter(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }
}
