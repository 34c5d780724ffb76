package dev.hapax.testkit.http;

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
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** A store that can be made unreachable. Thread-safe if the store is. */
public final class SwitchableStore implements Store {
    private final Store store;
    private volatile boolean cut;

    public SwitchableStore(Store store) {
        this.store = store;
    }

    /** From now on nothing reaches the store. */
    public void cut() {
        cut = true;
    }

    public void mend() {
        cut = false;
    }

    @Override
    public CompletionStage<Claim> claim(ClaimRequest request) {
        return unlessCut(() -> store.claim(request));
    }

    @Override
    public CompletionStage<Written> finish(Finish finish) {
        return unlessCut(() -> store.finish(finish));
    }

    @Override
    public CompletionStage<Written> release(Release release) {
        return unlessCut(() -> store.release(release));
    }

    @Override
    public CompletionStage<List<RenewalStatus>> renew(List<Renewal> renewals) {
        return unlessCut(() -> store.renew(renewals));
    }

    @Override
    public CompletionStage<Map<OperationId, Snapshot>> find(Collection<OperationId> ids) {
        return unlessCut(() -> store.find(ids));
    }

    @Override
    public CompletionStage<Swept> sweep(int limit) {
        return unlessCut(() -> store.sweep(limit));
    }

    private <T> CompletionStage<T> unlessCut(Supplier<CompletionStage<T>> step) {
        return cut
                ? CompletableFuture.failedFuture(new StoreUnavailableException("the store was cut off", null))
                : step.get();
    }

    @Override
    public void close() {
        store.close();
    }
}
