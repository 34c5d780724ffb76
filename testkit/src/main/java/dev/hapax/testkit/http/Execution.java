package dev.hapax.testkit.http;

import org.jspecify.annotations.Nullable;

/**
 * Something that the application really did.
 *
 * @param number counts executions, from 1
 * @param tag what the request said in {@code App-Tag}; empty when it said nothing
 * @param route the protected route that the request meant, read as loosely as any server might; empty for none
 * @param guarded whether the layer under test guarded it
 */
public record Execution(
        int number,
        String tag,
        String method,
        String target,
        @Nullable ContractRoute route,
        boolean guarded) {

    /** Whether it ran although it should not have: a route that wants a key, and no protection. */
    public boolean slippedThrough() {
        return route != null && route.keyRequired() && !guarded;
    }
}
