package dev.hapax.cache;

import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.ForwardingStore;
import dev.hapax.store.Store;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts the claims that reach a store. */
final class CountingStore extends ForwardingStore {
    private final AtomicInteger claims = new AtomicInteger();

    CountingStore(Store store) {
        super(store);
    }

    int claims() {
        return claims.get();
    }

    @Override
    public CompletionStage<Claim> claim(ClaimRequest request) {
        claims.incrementAndGet();
        return super.claim(request);
    }
}
