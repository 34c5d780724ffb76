package dev.hapax;

import dev.hapax.HeldLease.ClaimedAs;
import dev.hapax.store.Claim;
import dev.hapax.store.Claim.Mismatch;
import dev.hapax.store.Claim.Replay;
import dev.hapax.store.Claim.Running;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.Finish;
import dev.hapax.store.OperationId;
import dev.hapax.store.Recalled;
import dev.hapax.store.Release;
import dev.hapax.store.Result;
import dev.hapax.store.Snapshot;
import dev.hapax.store.Store;
import dev.hapax.store.StoreTransaction;
import dev.hapax.store.StoreUnavailableException;
import dev.hapax.store.WhenAbandoned;
import dev.hapax.store.Written;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way of a call: admit, run, settle.
 *
 * <p><b>Admit.</b> In this process one call at a time deals with an operation: the {@link Flight}. It asks the store;
 * the others follow it and share its answer, so a storm of equal calls costs one claim. Who wins the claim is admitted.
 * Who does not gets an answer, at once or after waiting, as the policy says. A follower whose leader ended without a
 * result starts over.
 *
 * <p><b>Run.</b> The handler runs on the caller's thread, while the {@link LeaseKeeper} renews. No connection and no
 * lock is held meanwhile.
 *
 * <p><b>Settle.</b> A value and a terminal failure are stored, anything else gives the claim back. Storing is tried
 * again with the same token while the store cannot be reached; if it stays unreachable the caller still gets its
 * result, marked as unrecorded, and the record is left to the lease. A failure to store never counts as a failure of
 * the work.
 */
final class Engine {
    private static final Logger log = LoggerFactory.getLogger(Engine.class);
    private static final Duration RETRY_AFTER = Duration.ofSeconds(1);
    private static final Duration CLAIM_PATIENCE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PATIENCE = Duration.ofSeconds(10);

    private final Store store;
    private final Store blocking;
    private final Background background;
    private final Listeners listeners;
    private final Results results;
    private final LeaseKeeper keeper;
    private final Waiters waiters;
    private final DownstreamKeys downstreamKeys;
    private final String owner;
    private final Map<OperationId, Flight> flights = new ConcurrentHashMap<>();

    Engine(Store store, Background background, Listeners listeners, Settings settings) {
        this.store = store;
        this.blocking = store.forBlockingCallers();
        this.background = background;
        this.listeners = listeners;
        this.results = new Results(listeners);
        this.keeper = new LeaseKeeper(store, background, settings.shortestLease());
        this.waiters = new Waiters(store, background, settings.maxWaiters());
        this.downstreamKeys = settings.downstreamKeys();
        this.owner = settings.owner();
    }

    record Settings(String owner, DownstreamKeys downstreamKeys, Duration shortestLease, int maxWaiters) {}

    /**
     * A call on its way in.
     *
     * @param via the store, as its caller uses it
     * @param asking how the claim is asked for the first time
     * @param waitUntil how long it may wait for another one, on this process's own clock
     */
    private record Entry<T>(Request<T> request, Store via, Asking asking, long waitUntil) {
        Entry(Request<T> request, Store via, Asking asking) {
            this(
                    request,
                    via,
                    asking,
                    System.nanoTime() + request.policy().whenInFlight().atMost().toNanos());
        }

        /** The same call once more, on a thread that must not block. */
        Entry<T> again(Store store) {
            return new Entry<>(request, store, store::claim, waitUntil);
        }

        OperationId id() {
            return request.id();
        }
    }

    private interface Asking {
        CompletionStage<Claim> claim(ClaimRequest request);
    }

    private record Sent(ClaimRequest claim, long at) {}

    /** What admission ends with: an answer, or the ownership of the operation. */
    private sealed interface Admission<T> {
        record Answered<T>(Claim claim) implements Admission<T> {}

        /**
         * @param flight empty when the handler runs unprotected: then there is no claim to settle either
         * @param via the store, as its caller uses it
         */
        record Owned<T>(
                Request<T> request,
                HeldLease lease,
                @Nullable Flight flight,
                Store via) implements Admission<T> {

            Owned<T> via(Store other) {
                return new Owned<>(request, lease, flight, other);
            }
        }
    }

    <T, X extends Exception> Outcome<T> run(Request<T> request, Handler<T, X> handler) throws X {
        Recalled recalled = store.recall(request.key(), request.fingerprint());
        if (recalled != null) {
            return replayed(request, recalled.id(), recalled.replay().result());
        }
        Admission<T> admission =
                Stages.await(request.id(), admit(new Entry<>(request, blocking, blocking::claim)), this::giveBack);
        if (admission instanceof Admission.Answered<T> answered) {
            return answer(request, answered.claim());
        }
        Admission.Owned<T> owned = (Admission.Owned<T>) admission;
        listeners.tell(l -> l.claimed(request.key(), owned.lease().attempt()));
        T value;
        try {
            value = handler.run(owned.lease());
        } catch (Throwable thrown) {
            if (isTerminal(request, thrown)) {
                TerminalFailure failure = TerminalFailure.of(thrown);
                return failed(owned, failure, Stages.join(finish(owned, Results.of(failure))));
            }
            if (isUnknown(request, thrown, WhenAbandoned.PARK)) {
                return Stages.join(leaveInDoubt(owned, thrown));
            }
            released(owned, thrown, Stages.join(giveUp(owned, releaseAfter(thrown), TerminalFailure.describe(thrown))));
            throw thrown;
        }
        return completed(owned, value, Stages.join(finish(owned, results.encode(request, owned.lease(), value))));
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
            outcomes.add(runAsync(task, claim -> {
                CompletableFuture<Claim> answer = new CompletableFuture<>();
                claims.add(claim);
                answers.add(answer);
                return answer;
            }));
        }
        claimAll(claims, answers);
        return outcomes;
    }

    private void claimAll(List<ClaimRequest> claims, List<CompletableFuture<Claim>> answers) {
        try {
            List<CompletionStage<Claim>> told = store.claimAll(claims);
            for (int i = 0; i < answers.size(); i++) {
                Stages.forward(told.get(i), answers.get(i));
            }
        } catch (RuntimeException | Error broken) {
            answers.forEach(answer -> answer.completeExceptionally(broken));
        }
    }

    private <T> CompletableFuture<Outcome<T>> runAsync(Task<T> task, Asking asking) {
        Request<T> request = task.call().request();
        Recalled recalled = store.recall(request.key(), request.fingerprint());
        if (recalled != null) {
            return Stages.call(() -> CompletableFuture.completedFuture(
                    replayed(request, recalled.id(), recalled.replay().result())));
        }
        CompletableFuture<Outcome<T>> whole = admit(new Entry<>(request, store, asking))
                .thenCompose(admission -> admission instanceof Admission.Answered<T> answered
                        ? CompletableFuture.completedFuture(answer(request, answered.claim()))
                        : begin((Admission.Owned<T>) admission, task));
        return whole.copy(); // a caller that cancels its copy must not cut the way from claim to end
    }

    private <T> CompletableFuture<Outcome<T>> begin(Admission.Owned<T> owned, Task<T> task) {
        try {
            return CompletableFuture.supplyAsync(() -> runAsync(owned, task.handler()), task.executor())
                    .thenCompose(outcome -> outcome);
        } catch (RuntimeException refused) {
            return giveBack(owned, Release.Kind.NOT_BEGUN, refused);
        }
    }

    private <T> CompletableFuture<Outcome<T>> runAsync(Admission.Owned<T> owned, AsyncHandler<T> handler) {
        listeners.tell(l -> l.claimed(owned.request().key(), owned.lease().attempt()));
        return Stages.call(() -> Objects.requireNonNull(handler.run(owned.lease()), "the handler returned no stage"))
                .handle((value, error) -> error == null ? complete(owned, value) : fail(owned, error))
                .thenCompose(settled -> settled);
    }

    private <T> CompletableFuture<Outcome<T>> complete(Admission.Owned<T> owned, T value) {
        return finish(owned, results.encode(owned.request(), owned.lease(), value))
                .thenApply(recorded -> completed(owned, value, recorded));
    }

    private <T> CompletableFuture<Outcome<T>> fail(Admission.Owned<T> owned, Throwable error) {
        Throwable thrown = Stages.cause(error);
        if (isTerminal(owned.request(), thrown)) {
            TerminalFailure failure = TerminalFailure.of(thrown);
            return finish(owned, Results.of(failure)).thenApply(recorded -> failed(owned, failure, recorded));
        }
        if (isUnknown(owned.request(), thrown, WhenAbandoned.PARK)) {
            return leaveInDoubt(owned, thrown);
        }
        return giveBack(owned, releaseAfter(thrown), thrown);
    }

    private <T> CompletableFuture<Outcome<T>> giveBack(Admission.Owned<T> owned, Release.Kind kind, Throwable thrown) {
        return giveUp(owned, kind, TerminalFailure.describe(thrown)).thenCompose(written -> {
            released(owned, thrown, written);
            return CompletableFuture.failedFuture(thrown);
        });
    }

    private static Release.Kind releaseAfter(Throwable thrown) {
        return thrown instanceof NotBegunException ? Release.Kind.NOT_BEGUN : Release.Kind.TRY_AGAIN;
    }

    private <T> CompletableFuture<Outcome<T>> leaveInDoubt(Admission.Owned<T> owned, Throwable thrown) {
        Request<T> request = owned.request();
        return giveUp(owned, Release.Kind.IN_DOUBT, TerminalFailure.describe(thrown))
                .thenApply(written -> {
                    log.warn("The outcome of operation {} is unknown: {}", request.id(), thrown.toString());
                    listeners.tell(l -> l.inDoubt(request.key()));
                    return new Outcome.InDoubt<>(request.id());
                });
    }

    /** Runs inside the caller's transaction: one row, committed with the effect or not at all. Nothing waits here. */
    <T, X extends Exception> Outcome<T> runWithin(
            StoreTransaction transaction, Request<T> request, Handler<T, X> handler) throws X {
        ClaimRequest claimRequest = claimRequest(request);
        Claim claim = transaction.claim(claimRequest);
        if (!(claim instanceof Claim.Won won)) {
            return answer(request, claim);
        }
        Admission.Owned<T> owned = new Admission.Owned<>(
                request, lease(request, new Sent(claimRequest, System.nanoTime()), won), null, store);
        listeners.tell(l -> l.claimed(request.key(), won.attempt()));
        T value;
        try {
            value = handler.run(owned.lease());
        } catch (Throwable thrown) {
            if (isTerminal(request, thrown)) {
                return rejectWithin(transaction, owned, TerminalFailure.of(thrown));
            }
            undo(transaction, owned.lease(), thrown);
            listeners.tell(l -> l.released(request.key(), won.attempt(), thrown));
            throw thrown;
        }
        finishWithin(transaction, owned, results.encode(request, owned.lease(), value));
        return completed(owned, value, true);
    }

    /** If the effect cannot be taken back there is nothing to record: the caller's transaction is to be rolled back. */
    private <T> Outcome<T> rejectWithin(
            StoreTransaction transaction, Admission.Owned<T> owned, TerminalFailure failure) {
        transaction.undo(owned.lease().token());
        finishWithin(transaction, owned, Results.of(failure));
        return failed(owned, failure, true);
    }

    private static void undo(StoreTransaction transaction, Lease lease, Throwable thrown) {
        try {
            transaction.undo(lease.token());
        } catch (RuntimeException broken) {
            thrown.addSuppressed(broken);
        }
    }

    private void finishWithin(StoreTransaction transaction, Admission.Owned<?> owned, Result result) {
        Written written;
        try {
            written = transaction.finish(finishOf(owned, result));
        } catch (RuntimeException broken) {
            undo(transaction, owned.lease(), broken);
            throw broken;
        }
        if (written == Written.CLAIM_LOST) {
            transaction.undo(owned.lease().token());
            throw claimLost(owned);
        }
    }

    private <T> CompletableFuture<Admission<T>> admit(Entry<T> entry) {
        Flight mine = new Flight(entry.request().fingerprint());
        Flight other = flights.putIfAbsent(entry.id(), mine);
        return other == null ? lead(entry, mine) : follow(entry, other);
    }

    private <T> CompletableFuture<Admission<T>> admitLater(Entry<T> entry) {
        return CompletableFuture.supplyAsync(() -> admit(entry.again(store)), background)
                .thenCompose(admission -> admission);
    }

    private <T> CompletableFuture<Admission<T>> lead(Entry<T> entry, Flight flight) {
        Sent sent = new Sent(claimRequest(entry.request()), System.nanoTime());
        CompletableFuture<Claim> asked = Stages.persist(
                background, CLAIM_PATIENCE, () -> entry.asking().claim(sent.claim()), () -> store.claim(sent.claim()));
        return Stages.compose(asked, (claim, error) -> {
            if (claim == null) {
                return claimFailed(entry, flight, sent.claim(), Stages.cause(Objects.requireNonNull(error)));
            }
            if (claim instanceof Claim.Won won) {
                return won(entry, flight, lease(entry.request(), sent, won));
            }
            flights.remove(entry.id(), flight);
            flight.claim().complete(claim);
            return answerOrWait(entry, claim);
        });
    }

    private <T> CompletableFuture<Admission<T>> won(Entry<T> entry, Flight flight, HeldLease lease) {
        Request<T> request = entry.request();
        keeper.keep(lease, request.policy().maxDuration());
        lease.whenLost(() -> leave(request, flight, Optional.empty()));
        flight.claim().complete(new Claim.Won(lease.attempt()));
        if (lease.attempt() > 1) {
            log.info("Took over operation {}, attempt {}", request.id(), lease.attempt());
        }
        return CompletableFuture.completedFuture(new Admission.Owned<>(request, lease, flight, entry.via()));
    }

    private <T> CompletableFuture<Admission<T>> claimFailed(
            Entry<T> entry, Flight flight, ClaimRequest claimRequest, Throwable error) {
        flights.remove(entry.id(), flight);
        flight.claim().completeExceptionally(error);
        if (error instanceof StoreUnavailableException) {
            giveBackUnheard(entry.request(), claimRequest);
        }
        return withoutStore(entry.request(), error);
    }

    private <T> CompletableFuture<Admission<T>> withoutStore(Request<T> request, Throwable error) {
        if (error instanceof StoreUnavailableException && request.policy().onStoreFailure() == OnStoreFailure.OPEN) {
            log.warn("Running {} unprotected, the store cannot be reached: {}", request.id(), error.toString());
            listeners.tell(l -> l.unprotected(request.key(), error));
            Sent sent = new Sent(claimRequest(request), System.nanoTime());
            HeldLease lease = lease(request, sent, new Claim.Won(1));
            return CompletableFuture.completedFuture(new Admission.Owned<>(request, lease, null, store));
        }
        listeners.tell(l -> l.refused(request.key(), error));
        return CompletableFuture.failedFuture(error);
    }

    /**
     * The claim may have been granted although nobody heard of it. Nobody will run it, so the next call need not wait.
     */
    private void giveBackUnheard(Request<?> request, ClaimRequest claimRequest) {
        Release release = new Release(
                request.id(),
                claimRequest.token(),
                Release.Kind.NOT_BEGUN,
                request.policy().retention(),
                "the answer to the claim was lost");
        Stages.persist(background, request.policy().lease(), () -> store.release(release))
                .whenComplete((written, error) -> log.debug("Gave back {}: {}", request.id(), written, error));
    }

    private <T> CompletableFuture<Admission<T>> follow(Entry<T> entry, Flight flight) {
        boolean same = flight.fingerprint().equals(entry.request().fingerprint());
        return Stages.compose(flight.claim(), (claim, error) -> {
            if (claim == null) {
                return withoutStore(entry.request(), Stages.cause(Objects.requireNonNull(error)));
            }
            if (claim instanceof Claim.Won) {
                return same ? followRunning(entry, flight) : answered(new Mismatch());
            }
            return same ? answerOrWait(entry, claim) : admitLater(entry);
        });
    }

    private <T> CompletableFuture<Admission<T>> followRunning(Entry<T> entry, Flight flight) {
        if (!entry.request().waits() || !waiters.mayWait()) {
            return answered(new Running(entry.request().policy().lease()));
        }
        return waiters.waitFor(flight.end(), entry.waitUntil(), Optional.empty())
                .thenComposeAsync(
                        end -> end.isPresent() ? answered(endedHere(entry.request(), end.get())) : startOver(entry),
                        background);
    }

    private <T> CompletableFuture<Admission<T>> answerOrWait(Entry<T> entry, Claim claim) {
        Request<T> request = entry.request();
        if (!(claim instanceof Running) || !request.waits() || !waiters.mayWait()) {
            return answered(claim);
        }
        return waiters.waitForChange(request.id(), entry.waitUntil())
                .thenComposeAsync(
                        change -> change.flatMap(found -> replay(request, found))
                                .map(Engine::<T>answered)
                                .orElseGet(() -> startOver(entry)),
                        background);
    }

    private static Replay endedHere(Request<?> request, Result result) {
        Instant now = Instant.now();
        return new Replay(result, new Claim.Kept(now, now.plus(request.policy().retention()), Duration.ZERO));
    }

    private static Optional<Claim> replay(Request<?> request, Snapshot found) {
        boolean ours = !found.expired() && found.fingerprint().equals(request.fingerprint());
        return ours
                ? Optional.ofNullable(found.result())
                        .map(result -> new Replay(result, Objects.requireNonNull(found.kept())))
                : Optional.empty();
    }

    private <T> CompletableFuture<Admission<T>> startOver(Entry<T> entry) {
        return entry.waitUntil() - System.nanoTime() > 0
                ? admit(entry.again(store))
                : answered(new Running(entry.request().policy().lease()));
    }

    private static <T> CompletableFuture<Admission<T>> answered(Claim claim) {
        return CompletableFuture.completedFuture(new Admission.Answered<>(claim));
    }

    /** A caller that was interrupted while it waited got the claim after all. Its thread is elsewhere by now. */
    private <T> void giveBack(Admission<T> admission) {
        if (admission instanceof Admission.Owned<T> owned) {
            giveUp(owned.via(store), Release.Kind.NOT_BEGUN, "the caller was interrupted");
        }
    }

    private <T> Outcome<T> answer(Request<T> request, Claim claim) {
        return claim.fold(
                won -> {
                    throw new AssertionError("a claim that was won is run, not answered");
                },
                replay -> replayed(request, request.id(), replay.result()),
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

    private <T> Outcome<T> replayed(Request<T> request, OperationId id, Result result) {
        listeners.tell(l -> l.replayed(request.key()));
        return new Outcome.Replayed<>(id, Results.decode(request, result));
    }

    /**
     * Stores the end of an operation.
     *
     * @return whether it was recorded; fails with {@link ClaimLostException} if somebody else has the operation
     */
    private CompletableFuture<Boolean> finish(Admission.Owned<?> owned, Result result) {
        if (owned.flight() == null) {
            return CompletableFuture.completedFuture(false);
        }
        Finish finish = finishOf(owned, result);
        CompletableFuture<Written> told = Stages.persist(
                background, patience(owned.request()), () -> owned.via().finish(finish), () -> store.finish(finish));
        return Stages.compose(told, (written, error) -> {
            land(owned, written == Written.RECORDED ? Optional.of(result) : Optional.empty());
            if (written == Written.CLAIM_LOST) {
                return CompletableFuture.failedFuture(claimLost(owned));
            }
            if (error != null) {
                unrecorded(owned, finish, Stages.cause(error));
            }
            return CompletableFuture.completedFuture(error == null);
        });
    }

    /** Gives the claim up. Empty when there is none, or when the store could not be told. */
    private CompletableFuture<Optional<Written>> giveUp(Admission.Owned<?> owned, Release.Kind kind, String why) {
        if (owned.flight() == null) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        Request<?> request = owned.request();
        Release release = new Release(
                request.id(), owned.lease().token(), kind, request.policy().retention(), why);
        return Stages.persist(
                        background, patience(request), () -> owned.via().release(release), () -> store.release(release))
                .handle((written, error) -> {
                    land(owned, Optional.empty());
                    if (error != null) {
                        log.warn("Could not give back {}, left to its lease: {}", request.id(), error.toString());
                    }
                    return Optional.ofNullable(written);
                });
    }

    private void land(Admission.Owned<?> owned, Optional<Result> end) {
        keeper.letGo(owned.lease());
        leave(owned.request(), Objects.requireNonNull(owned.flight()), end);
    }

    /** From here on another call of this process may deal with the operation. */
    private void leave(Request<?> request, Flight flight, Optional<Result> end) {
        flights.remove(request.id(), flight);
        flight.end().complete(end);
    }

    private <T> Outcome<T> completed(Admission.Owned<T> owned, T value, boolean recorded) {
        Request<T> request = owned.request();
        HeldLease lease = owned.lease();
        if (recorded) {
            listeners.tell(l -> l.completed(request.key(), lease.attempt(), lease.heldFor(System.nanoTime())));
        }
        return new Outcome.Executed<>(request.id(), lease.attempt(), recorded, Ending.value(value));
    }

    private <T> Outcome<T> failed(Admission.Owned<T> owned, TerminalFailure failure, boolean recorded) {
        Request<T> request = owned.request();
        int attempt = owned.lease().attempt();
        if (recorded) {
            listeners.tell(l -> l.failed(request.key(), attempt, failure));
        }
        return new Outcome.Executed<>(request.id(), attempt, recorded, Ending.failure(failure));
    }

    private void released(Admission.Owned<?> owned, Throwable thrown, Optional<Written> written) {
        if (written.equals(Optional.of(Written.RECORDED))) {
            int attempt = owned.lease().attempt();
            listeners.tell(l -> l.released(owned.request().key(), attempt, thrown));
        } else if (written.isPresent()) {
            thrown.addSuppressed(claimLost(owned));
        }
    }

    private ClaimLostException claimLost(Admission.Owned<?> owned) {
        Request<?> request = owned.request();
        int attempt = owned.lease().attempt();
        log.warn("Attempt {} of operation {} lost its claim to somebody else", attempt, request.id());
        listeners.tell(l -> l.claimLost(request.key(), attempt));
        return new ClaimLostException(request.id(), attempt);
    }

    /** The caller has waited long enough. The store is told later, if it comes back before the lease ends. */
    private void unrecorded(Admission.Owned<?> owned, Finish finish, Throwable error) {
        Request<?> request = owned.request();
        log.error("Operation {} is done, but the store could not be told; left to its lease", request.id(), error);
        listeners.tell(l -> l.unrecorded(request.key(), owned.lease().attempt(), error));
        if (error instanceof StoreUnavailableException) {
            background.execute(() -> tellLate(owned, finish));
        }
    }

    private void tellLate(Admission.Owned<?> owned, Finish finish) {
        Request<?> request = owned.request();
        HeldLease lease = owned.lease();
        Stages.persist(background, request.policy().lease(), () -> store.finish(finish))
                .whenComplete((written, error) -> {
                    if (written == Written.RECORDED) {
                        listeners.tell(
                                l -> l.completed(request.key(), lease.attempt(), lease.heldFor(System.nanoTime())));
                    } else if (written == Written.CLAIM_LOST) {
                        claimLost(owned);
                    } else {
                        log.error("The store could not be told of operation {} at all", request.id(), error);
                    }
                });
    }

    private ClaimRequest claimRequest(Request<?> request) {
        return new ClaimRequest(
                request.id(),
                request.key(),
                request.fingerprint(),
                UUID.randomUUID(),
                owner,
                request.policy().terms(),
                ClaimRequest.DEFAULT_TIMEOUT);
    }

    private HeldLease lease(Request<?> request, Sent sent, Claim.Won won) {
        ClaimedAs claimed = new ClaimedAs(request.id(), sent.claim().token(), won.attempt());
        return new HeldLease(claimed, request.policy().lease(), downstreamKeys, sent.at());
    }

    private static Finish finishOf(Admission.Owned<?> owned, Result result) {
        Request<?> request = owned.request();
        return new Finish(
                request.id(), owned.lease().token(), result, request.policy().retention());
    }

    /** Whether the handler could not tell what became of its work, and the policy for that is {@code then}. */
    private static boolean isUnknown(Request<?> request, Throwable thrown, WhenAbandoned then) {
        return thrown instanceof OutcomeUnknownException && request.policy().whenAbandoned() == then;
    }

    /** What the user's own code says; if it fails in turn, the operation may be tried again. */
    private static boolean isTerminal(Request<?> request, Throwable thrown) {
        try {
            return isUnknown(request, thrown, WhenAbandoned.FAIL)
                    || request.policy().isTerminal(thrown);
        } catch (RuntimeException | Error broken) {
            log.error(
                    "The policy of scope {} cannot tell whether a failure is terminal",
                    request.key().scope(),
                    broken);
            return false;
        }
    }

    private static Duration patience(Request<?> request) {
        return shorter(request.policy().lease(), LONGEST_PATIENCE);
    }

    private static Duration shorter(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }
}
