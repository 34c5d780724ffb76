package dev.hapax.bench.micro;

import dev.hapax.memory.MemoryStore;
import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.Finish;
import dev.hapax.store.OperationId;
import dev.hapax.store.Release;
import dev.hapax.store.Renewal;
import dev.hapax.store.RenewalStatus;
import dev.hapax.store.Snapshot;
import dev.hapax.store.Store;
import dev.hapax.store.Swept;
import dev.hapax.store.Written;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/**
 * A memory store that forgets everything once in a while: what is measured on it is not a map that grows. For one
 * caller, whose operations have ended when it claims the next one.
 */
final class ShortMemory implements Store {
    private static final int CLAIMS = 4_096;

    private MemoryStore store = new MemoryStore();
    private int claims;

    @Override
    public CompletionStage<Claim> claim(ClaimRequest request) {
        if (++claims == CLAIMS) {
            store = new MemoryStore();
            claims = 0;
        }
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
    public void close() {}
}
