package dev.hapax.bench.micro;

import dev.hapax.Hapax;
import dev.hapax.Outcome;
import dev.hapax.Policy;
import dev.hapax.memory.MemoryStore;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.ClaimTerms;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.Finish;
import dev.hapax.store.OperationKey;
import dev.hapax.store.Payload;
import dev.hapax.store.Result;
import dev.hapax.store.Store;
import dev.hapax.store.Written;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The engine over the memory store, and that store alone. Both mint an id and a token, so the difference is what the
 * engine adds. Public because JMH's own code extends it.
 */
@State(Scope.Thread)
public class EngineCosts {
    private static final String SCOPE = "payments";
    private static final String TENANT = "acct_42";
    private static final String KEPT = "kept";

    private final byte[] response = Samples.bytes(300);
    private final Fingerprint fingerprint = Fingerprint.of(Samples.bytes(300));
    private final Policy policy = Policy.payment();
    private final ClaimTerms terms =
            new ClaimTerms(policy.lease(), policy.retention(), policy.whenAbandoned(), policy.maxAttempts());
    private final Store store = new ShortMemory();
    private final Hapax engine =
            Hapax.on(new ShortMemory()).scope(SCOPE, policy).withoutSweeper().build();
    private final Hapax keeping =
            Hapax.on(new MemoryStore()).scope(SCOPE, policy).withoutSweeper().build();
    private long last;

    @Setup
    public void keepOne() {
        run(keeping, KEPT);
    }

    @TearDown
    public void close() {
        engine.close();
        keeping.close();
    }

    @Benchmark
    public Outcome<byte[]> freshOperation() {
        return require(run(engine, next()), Outcome.Executed.class);
    }

    @Benchmark
    public Written storeAlone() {
        ClaimRequest claim = ClaimRequest.of(new OperationKey(TENANT, SCOPE, next()), fingerprint, "bench", terms);
        store.claim(claim).toCompletableFuture().join();
        Result result = Result.completed(Payload.of(response.clone()));
        return store.finish(new Finish(claim.id(), claim.token(), result, terms.retention()))
                .toCompletableFuture()
                .join();
    }

    @Benchmark
    public Outcome<byte[]> replay() {
        return require(run(keeping, KEPT), Outcome.Replayed.class);
    }

    private String next() {
        return "order-2026-" + last++;
    }

    private Outcome<byte[]> run(Hapax hapax, String key) {
        return hapax.scope(SCOPE)
                .tenant(TENANT)
                .key(key)
                .fingerprint(fingerprint)
                .returning(byte[].class)
                .run(lease -> response);
    }

    private static Outcome<byte[]> require(Outcome<byte[]> outcome, Class<?> expected) {
        if (!expected.isInstance(outcome)) {
            throw new IllegalStateException("expected " + expected.getSimpleName() + ", got " + outcome);
        }
        return outcome;
    }
}
