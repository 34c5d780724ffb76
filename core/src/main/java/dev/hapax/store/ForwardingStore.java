package dev.hapax.store;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Passes everything on to another store: for what stands in front of one and changes a little.
 *
 * <p>Nothing goes round what a subclass changes: {@link #claimAll} claims one by one, and blocking callers use it like
 * all others. A subclass that can keep claims together, or spare callers the hand-over, says so itself.
 */
public abstract class ForwardingStore implements Store {
    private final Store store;

    protected ForwardingStore(Store store) {
        this.store = store;
    }

    protected final Store store() {
        return store;
    }

    @Override
    public CompletionStage<Claim> claim(ClaimRequest request) {
        return store.claim(request);
    }

    @Override
    public @Nullable Recalled recall(OperationKey key, Fingerprint fingerprint) {
        return store.recall(key, fingerprint);
    }

    @Override
    public CompletionStage<Written> finish(Finish finish) {
        return store.finish(finish);
    }

    @Override
    public CompletionStage<Written> release(Release release) {
        return store.release(release);
    }

    @Override
    public CompletionStage<List<RenewalStatus>> renew(List<Renewal> renewals) {
        return store.renew(renewals);
    }

    @Override
    public CompletionStage<Map<OperationId, Snapshot>> find(Collection<OperationId> ids) {
        return store.find(ids);
    }

    @Override
    public CompletionStage<Swept> sweep(int limit) {
        return store.sweep(limit);
    }

    @Override
    public void close() {
        store.close();
    }
}
