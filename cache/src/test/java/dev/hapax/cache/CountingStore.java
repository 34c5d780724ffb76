package dev.hapax.cache;

import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.Finish;
import dev.hapax.store.OperationId;
import dev.hapax.store.Release;
import dev.hapax.store.Renewal;
import dev.hapax.store.Snapshot;
import dev.hapax.store.Store;
import dev.hapax.store.Swept;
import dev.hapax.store.Written;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts the claims that reach a store. */
final class CountingStore implements Store {
    private final Store store;
    private final AtomicInteger claims = new AtomicInteger();

    CountingStore(Store store) {
        this.store = store;
    }

    int claims() {
        return claims.get();
    }

    @Override
    public CompletionStage<Claim> claim(ClaimRequest request) {
        claims.incrementAndGet();
        return store.claim(request);
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
    public CompletionStage<Set<UUID>> renew(Collection<Renewal> renewals) {
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
