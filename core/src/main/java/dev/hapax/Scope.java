package dev.hapax;

import dev.hapax.codec.Codec;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.OperationKey;

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

    /** Whose keys are meant. Left out, the operation belongs to nobody in particular. */
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
        return new Call<>(hapax, runner, new Request<>(operation, Fingerprint.NONE, policy, Codec.bytes()));
    }
}
