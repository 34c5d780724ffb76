package dev.hapax.bench.micro;

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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Grants every claim and keeps nothing: what is left in memory is the engine's own. */
final class Forgetful implements Store {

    @Override
    public CompletionStage<Claim> claim(ClaimRequest request) {
        return CompletableFuture.completedFuture(new Claim.Won(1));
    }

    @Override
    public CompletionStage<Written> finish(Finish finish) {
        return CompletableFuture.completedFuture(Written.RECORDED);
    }

    @Override
    public CompletionStage<Written> release(Release release) {
        return CompletableFuture.completedFuture(Written.RECORDED);
    }

    @Override
    public CompletionStage<Set<UUID>> renew(Collection<Renewal> renewals) {
        return CompletableFuture.completedFuture(Set.of());
    }

    @Override
    public CompletionStage<Map<OperationId, Snapshot>> find(Collection<OperationId> ids) {
        return CompletableFuture.completedFuture(Map.of());
    }

    @Override
    public CompletionStage<Swept> sweep(int limit) {
        return CompletableFuture.completedFuture(Swept.NOTHING);
    }

    @Override
    public void close() {}
}
