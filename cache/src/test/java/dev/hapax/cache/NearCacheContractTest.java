package dev.hapax.cache;

import dev.hapax.memory.MemoryStore;
import dev.hapax.store.Store;
import dev.hapax.testkit.StoreContract;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;

/** A store with the cache in front of it is still a store. */
class NearCacheContractTest extends StoreContract {
    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));
    private final Store store = NearCache.builder(new MemoryStore(now::get))
            .ticker(() -> Duration.between(Instant.EPOCH, now.get()).toNanos())
            .build();

    @Override
    protected Store store() {
        return store;
    }

    @Override
    protected void letTimePass(Duration duration) {
        now.updateAndGet(instant -> instant.plus(duration));
    }
}
