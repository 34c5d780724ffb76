package dev.hapax;

import dev.hapax.codec.Codec;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.OperationKey;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;

/** A scope, and in it the tenant whose keys are meant. Immutable. */
public final class Scope {
    private final Hapax hapax;
    private final Runner runner;
    private final String name;
    private final Policy policy;
    private final String tenant;

    Scope(Hapax hapax, Runner runner, String name, Policy policy, String tenant) {
        this.hapax = hapax;
        this.runner = runner;
        this.name = name;
        this.policy = policy;
        this.tenant = tenant;
    }

    /** How the scope's operations are treated. */
    public Policy policy() {
        return policy;
    }

    /** Whose keys are meant. Default: one shared tenant. */
    public Scope tenant(String tenant) {
        return new Scope(hapax, runner, name, policy, tenant);
    }

    /**
     * The operation with the caller's own key.
     *
     * @throws dev.hapax.store.InvalidKeyException unless the key has 1–255 visible ASCII characters
     */
    public Call<byte[]> key(String key) {
        OperationKey operation = new OperationKey(tenant, name, key);
        return new Call<>(hapax, runner, new Request<>(operation, Fingerprint.NONE, policy, Codec.bytes(), null));
    }

    /**
     * Many items, each an operation with a key of its own.
     *
     * @throws IllegalStateException within a transaction, which belongs to one thread
     */
    public <I> Batch<I, byte[]> batch(Collection<I> items, Function<? super I, String> keyOf) {
        key("any").requireLeased();
        return Batch.of(hapax, items, item -> key(keyOf.apply(item)));
    }

    /**
     * Does something once for each item, and waits for all of them: {@link #batch} for handlers without a result.
     *
     * @return what became of each item, in the order of the items
     */
    @SuppressWarnings("NullAway") // null is the only value of Void
    public <I> List<Batch.Result<I, Void>> runAll(
            Collection<I> items, Function<? super I, String> keyOf, ItemAction<I> action) {
        return batch(items, keyOf).returning(Codec.nothing()).run((item, lease) -> {
            action.run(item, lease);
            return null;
        });
    }

    /** What is done with one item. */
    @FunctionalInterface
    public interface ItemAction<I> {
        void run(I item, Lease lease) throws Exception;
    }
}
