package dev.hapax;

import dev.hapax.store.Store;
import java.util.concurrent.Executor;

/**
 * What the parts of the engine share.
 *
 * @param handlers where handlers run, and what users chain to stages
 */
record EngineParts(
        Store store,
        Scheduler scheduler,
        Executor handlers,
        Listeners listeners,
        StoreRetry retry,
        Flights flights,
        Engine.Settings settings) {}
