package dev.hapax.bench.micro;

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
    public CompletionStage<List<RenewalStatus>> renew(List<Renewal> renewals) {
        return CompletableFuture.completedFuture(
                renewals.stream().map(renewal -> RenewalStatus.RENEWED).toList());
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
