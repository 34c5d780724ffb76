package dev.hapax.testkit;

import dev.hapax.memory.MemoryStore;
import dev.hapax.store.Store;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;

class MemoryStoreTest extends StoreContract {
    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));
    private final MemoryStore store = new MemoryStore(now::get);

    @Override
    protected Store store() {
        return store;
    }

    @Override
    protected void letTimePass(Duration duration) {
        now.updateAndGet(instant -> instant.plus(duration));
    }
}
