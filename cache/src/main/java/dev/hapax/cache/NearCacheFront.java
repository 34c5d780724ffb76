package dev.hapax.cache;

import dev.hapax.store.Store;
import dev.hapax.store.StoreFront;

/** Puts a {@link NearCache} with the default settings in front of every store that has none. */
public final class NearCacheFront implements StoreFront {
    @Override
    public Store before(Store store) {
        return store instanceof NearCache ? store : NearCache.over(store);
    }
}
