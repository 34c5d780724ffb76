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
import java.util.Collection;
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
    private volatile @Nullable RuntimeException thrownByBatches;

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
        AFTER
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

    void heal() {
        faults.clear();
    }

    private static CompletableFuture<Void> unavailable() {
        return CompletableFuture.failedFuture(new StoreUnavailableException("cut off by the test", null));
    }

    private <T> CompletionStage<T> through(Op op, Supplier<CompletionStage<T>> call) {
        int nth = calls.get(op).incrementAndGet();
        for (Fault fault : faults) {
            if (fault.op() == op && fault.chosen().test(nth)) {
                return fault.when() == When.BEFORE
                        ? fault.gate().thenCompose(open -> call.get())
                        : call.get().thenCombine(fault.gate(), (answer, open) -> answer);
            }
        }
        return call.get();
    }

    @Override
    public CompletionStage<Claim> claim(ClaimRequest request) {
        claimTokens.add(request.token());
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
        return through(Op.RENEW, () -> store.renew(renewals));
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
