package dev.hapax.http;

import dev.hapax.memory.MemoryStore;
import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.Finish;
import dev.hapax.store.ForwardingStore;
import dev.hapax.store.OperationId;
import dev.hapax.store.Snapshot;
import dev.hapax.store.StoreException;
import dev.hapax.store.Written;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A memory store with a fault. */
final class FailingStore extends ForwardingStore {
    private final @Nullable StoreException onClaim;
    private final @Nullable StoreException onFinish;
    private final @Nullable StoreException onFind;
    private final boolean losing;

    private FailingStore(
            @Nullable StoreException onClaim,
            @Nullable StoreException onFinish,
            @Nullable StoreException onFind,
            boolean losing) {
        super(new MemoryStore());
        this.onClaim = onClaim;
        this.onFinish = onFinish;
        this.onFind = onFind;
        this.losing = losing;
    }

    static FailingStore onClaim(StoreException fault) {
        return new FailingStore(fault, null, null, false);
    }

    static FailingStore onFinish(StoreException fault) {
        return new FailingStore(null, fault, null, false);
    }

    static FailingStore onFind(StoreException fault) {
        return new FailingStore(null, null, fault, false);
    }

    /** Somebody else always takes over before the end. */
    static FailingStore losingClaims() {
        return new FailingStore(null, null, null, true);
    }

    @Override
    public CompletionStage<Claim> claim(ClaimRequest request) {
        return onClaim == null ? super.claim(request) : CompletableFuture.failedFuture(onClaim);
    }

    @Override
    public CompletionStage<Written> finish(Finish finish) {
        if (losing) {
            return CompletableFuture.completedFuture(Written.CLAIM_LOST);
        }
        return onFinish == null ? super.finish(finish) : CompletableFuture.failedFuture(onFinish);
    }

    @Override
    public CompletionStage<Map<OperationId, Snapshot>> find(Collection<OperationId> ids) {
        return onFind == null ? super.find(ids) : CompletableFuture.failedFuture(onFind);
    }
}
