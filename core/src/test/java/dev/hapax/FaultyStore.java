package dev.hapax;

import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.Finish;
import dev.hapax.store.OperationId;
import dev.hapax.store.Release;
import dev.hapax.store.Renewal;
import dev.hapax.store.RenewalStatus;
import dev.hapax.store.Snapshot;
import dev.hapax.store.Store;
import dev.hapax.store.StoreUnavailableException;
import dev.hapax.store.Swept;
import dev.hapax.store.Written;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Counts the calls to a store, and makes chosen ones fail before or after they took effect, or answer late. */
final class FaultyStore implements Store {
    private final Store store;
    private final List<Fault> faults = new CopyOnWriteArrayList<>();
    private final Map<Op, AtomicInteger> calls = new EnumMap<>(Op.class);
    private final List<UUID> claimTokens = new CopyOnWriteArrayList<>();
    private final List<UUID> finishTokens = new CopyOnWriteArrayList<>();

    private final List<Integer> batches = new CopyOnWriteArrayList<>();
    private final List<Duration> claimTimeouts = new CopyOnWriteArrayList<>();
    private volatile @Nullable RuntimeException thrownByBatches;
    private volatile @Nullable RenewalStatus renewalStatus;
    private volatile @Nullable Error thrownByClaims;

    enum Op {
        CLAIM,
        FINISH,
        RELEASE,
        RENEW,
        FIND,
        SWEEP
    }

    private enum When {
        BEFORE,
        AFTER,
        /** The caller hears of a failure at once; the call takes effect when the gate opens. */
        BEHIND_THE_CALLERS_BACK
    }

    /** What happens to the calls of {@code op} whose number, from 1, is {@code chosen}. */
    private record Fault(Op op, IntPredicate chosen, When when, CompletableFuture<Void> gate) {}

    FaultyStore(Store store) {
        this.store = store;
        for (Op op : Op.values()) {
            calls.put(op, new AtomicInteger());
        }
    }

    int calls(Op op) {
        return calls.get(op).get();
    }

    int calls() {
        return calls.values().stream().mapToInt(AtomicInteger::get).sum();
    }

    /** How many claims came together, each time. */
    List<Integer> batches() {
        return batches;
    }

    /** Claims that come together make it throw, which no store should do. */
    void throwForBatches(RuntimeException thrown) {
        thrownByBatches = thrown;
    }

    List<UUID> claimTokens() {
        return claimTokens;
    }

    List<UUID> finishTokens() {
        return finishTokens;
    }

    /** The n-th call cannot reach the store. */
    void loseCall(Op op, int nth) {
        faults.add(new Fault(op, n -> n == nth, When.BEFORE, unavailable()));
    }

    /** The n-th call takes effect, but its answer gets lost. */
    void loseAnswer(Op op, int nth) {
        faults.add(new Fault(op, n -> n == nth, When.AFTER, unavailable()));
    }

    /** Every call takes effect, but the answers get lost. */
    void loseAnswers(Op op) {
        faults.add(new Fault(op, n -> true, When.AFTER, unavailable()));
    }

    /** No call reaches the store any more. */
    void cutOff(Op... ops) {
        for (Op op : ops) {
            faults.add(new Fault(op, n -> true, When.BEFORE, unavailable()));
        }
    }

    /** Every call fails with something that trying again will not mend. */
    void breakDown(Op op, Throwable error) {
        faults.add(new Fault(op, n -> true, When.BEFORE, CompletableFuture.failedFuture(error)));
    }

    /** From now on calls take effect at once, and answer when the gate is completed. */
    CompletableFuture<Void> delayAnswers(Op op) {
        CompletableFuture<Void> gate = new CompletableFuture<>();
        faults.add(new Fault(op, n -> true, When.AFTER, gate));
        return gate;
    }

    /** From now on calls wait for the gate before they take effect; if it fails, so do they. */
    CompletableFuture<Void> delayCalls(Op op) {
        CompletableFuture<Void> gate = new CompletableFuture<>();
        faults.add(new Fault(op, n -> true, When.BEFORE, gate));
        return gate;
    }

    /** Calls fail at once, and take effect all the same when the gate is completed. */
    CompletableFuture<Void> commitLate(Op op) {
        CompletableFuture<Void> gate = new CompletableFuture<>();
        faults.add(new Fault(op, n -> true, When.BEHIND_THE_CALLERS_BACK, gate));
        return gate;
    }

    /** What every renewal is answered from now on, whatever the store would say. */
    void answerRenewals(RenewalStatus status) {
        renewalStatus = status;
    }

    /** Claims make it throw at once, which no store should do. */
    void throwForClaims(Error thrown) {
        thrownByClaims = thrown;
    }

    void heal() {
        faults.clear();
        thrownByClaims = null;
    }

    /** How long each claim allowed the store to wait for a locked operation. */
    List<Duration> claimTimeouts() {
        return claimTimeouts;
    }

    private static CompletableFuture<Void> unavailable() {
        return CompletableFuture.failedFuture(new StoreUnavailableException("cut off by the test", null));
    }

    private <T> CompletionStage<T> through(Op op, Supplier<CompletionStage<T>> call) {
        int nth = calls.get(op).incrementAndGet();
        for (Fault fault : faults) {
            if (fault.op() == op && fault.chosen().test(nth)) {
                return switch (fault.when()) {
                    case BEFORE -> fault.gate().thenCompose(open -> call.get());
                    case AFTER -> call.get().thenCombine(fault.gate(), (answer, open) -> answer);
                    case BEHIND_THE_CALLERS_BACK -> {
                        var unused = fault.gate().thenCompose(open -> call.get());
                        yield unavailable().thenCompose(never -> call.get());
                    }
                };
            }
        }
        return call.get();
    }

    @Override
    public CompletionStage<Claim> claim(ClaimRequest request) {
        claimTokens.add(request.token());
        claimTimeouts.add(request.timeout());
        Error thrown = thrownByClaims;
        if (thrown != null) {
            throw thrown;
        }
        return through(Op.CLAIM, () -> store.claim(request));
    }

    @Override
    public List<CompletionStage<Claim>> claimAll(List<ClaimRequest> requests) {
        batches.add(requests.size());
        RuntimeException thrown = thrownByBatches;
        if (thrown != null) {
            throw thrown;
        }
        return Store.super.claimAll(requests);
    }

    @Override
    public CompletionStage<Written> finish(Finish finish) {
        finishTokens.add(finish.token());
        return through(Op.FINISH, () -> store.finish(finish));
    }

    @Override
    public CompletionStage<Written> release(Release release) {
        return through(Op.RELEASE, () -> store.release(release));
    }

    @Override
    public CompletionStage<List<RenewalStatus>> renew(List<Renewal> renewals) {
        RenewalStatus status = renewalStatus;
        return status == null
                ? through(Op.RENEW, () -> store.renew(renewals))
                : through(
                        Op.RENEW,
                        () -> CompletableFuture.completedFuture(Collections.nCopies(renewals.size(), status)));
    }

    @Override
    public CompletionStage<Map<OperationId, Snapshot>> find(Collection<OperationId> ids) {
        return through(Op.FIND, () -> store.find(ids));
    }

    @Override
    public CompletionStage<Swept> sweep(int limit) {
        return through(Op.SWEEP, () -> store.sweep(limit));
    }

    @Override
    public void close() {
        store.close();
    }
}
