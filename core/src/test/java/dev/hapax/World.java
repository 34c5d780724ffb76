package dev.hapax;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.Outcome.Executed;
import dev.hapax.memory.MemoryStore;
import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.OperationKey;
import dev.hapax.store.Snapshot;
import dev.hapax.store.State;
import dev.hapax.store.Store;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;

/**
 * What the tests of the engine happen in: a memory store that many nodes share, faults on the way to it, and a listener
 * on every node. They all tell the story of one operation, {@link #KEY}.
 */
final class World implements AutoCloseable {
    static {
        Awaitility.setDefaultTimeout(Duration.ofMinutes(1)); // the machine may be busy
    }

    static final OperationKey KEY = new OperationKey("acct_42", "payments", "k-1");
    static final Fingerprint REQUEST = Fingerprint.of(new byte[] {1});
    static final Fingerprint OTHER_REQUEST = Fingerprint.of(new byte[] {2});

    final ManualClock clock = new ManualClock();
    final Heard heard = new Heard();
    final MemoryStore memory;
    final FaultyStore store;
    private final Collection<Hapax> nodes = new ArrayList<>();

    private World(Optional<InstantSource> storeClock) {
        memory = new MemoryStore(storeClock.orElse(clock));
        store = new FaultyStore(memory);
    }

    /** A store on {@link #clock}: no lease runs out by itself. */
    static World still() {
        return new World(Optional.empty());
    }

    /** A store on the system's clock, for leases that are renewed or run out. */
    static World ticking() {
        return new World(Optional.of(InstantSource.system()));
    }

    Hapax node(Policy policy) {
        return node(policy, builder -> builder);
    }

    Hapax node(Policy policy, UnaryOperator<Hapax.Builder> settings) {
        Hapax.Builder builder =
                Hapax.on(store).scope(KEY.scope(), policy).listener(heard).withoutSweeper();
        Hapax node = settings.apply(builder).build();
        nodes.add(node);
        return node;
    }

    static Call<String> call(Hapax node) {
        return keyed(node, KEY.key());
    }

    static Call<String> keyed(Hapax node, String key) {
        return node.scope(KEY.scope())
                .tenant(KEY.tenant())
                .key(key)
                .fingerprint(REQUEST)
                .returning(String.class);
    }

    /** A node that claims the operation and is never heard of again, unless the test acts for it. */
    ClaimRequest claimElsewhere(Policy policy) {
        ClaimRequest request = ClaimRequest.of(KEY, REQUEST, "elsewhere", policy.terms());
        assertThat(now(memory, request)).isInstanceOf(Claim.Won.class);
        return request;
    }

    private static Claim now(Store store, ClaimRequest request) {
        return store.claim(request).toCompletableFuture().join();
    }

    Optional<Snapshot> stored() {
        return Optional.ofNullable(
                memory.find(List.of(KEY.id())).toCompletableFuture().join().get(KEY.id()));
    }

    State state() {
        return stored().orElseThrow().state();
    }

    void sweep() {
        memory.sweep(100).toCompletableFuture().join();
    }

    /** Fails unless the handler ran. */
    static <T> Executed<T> executed(Outcome<T> outcome) {
        assertThat(outcome).isInstanceOf(Executed.class);
        return (Executed<T>) outcome;
    }

    /** Fails unless this is a replay. */
    static <T> Outcome.Replayed<T> replayed(Outcome<T> outcome) {
        assertThat(outcome).isInstanceOf(Outcome.Replayed.class);
        return (Outcome.Replayed<T>) outcome;
    }

    /** A handler for calls that must not run it. */
    static <T> Handler<T, RuntimeException> mustNotRun() {
        return lease -> {
            throw new AssertionError("the handler ran, attempt " + lease.attempt());
        };
    }

    @Override
    public void close() {
        nodes.forEach(Hapax::close);
    }
}
