package dev.hapax;

import dev.hapax.codec.Codecs;
import dev.hapax.store.Durations;
import dev.hapax.store.OperationId;
import dev.hapax.store.OperationKey;
import dev.hapax.store.Snapshot;
import dev.hapax.store.Store;
import dev.hapax.store.StoreFront;
import dev.hapax.store.StoreTransaction;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Runs operations once and answers every retry. Safe for use by many threads; one instance serves a process.
 *
 * <pre>{@code
 * Hapax hapax = Hapax.on(PostgresStore.over(dataSource)).scope("payments", Policy.payment()).build();
 *
 * Outcome<Receipt> outcome = hapax.scope("payments")
 *     .tenant("acct_42")
 *     .key(idempotencyKey)
 *     .fingerprint(requestBytes)
 *     .returning(Receipt.class)
 *     .run(lease -> bank.charge(order, lease.downstreamKey("bank.charge")));
 * }</pre>
 *
 * <p>It renews leases and sweeps the store on threads of its own until it is closed. Close it after the last call has
 * returned: handlers that still run lose their leases. The store is not closed.
 */
public final class Hapax implements AutoCloseable {
    private final Store store;
    private final Map<String, Policy> scopes;
    private final Codecs codecs;
    private final Scheduler scheduler;
    private final boolean ownScheduler;
    private final Executor handlers;
    private final Engine engine;
    private final Runner leased;
    private final @Nullable Sweeper sweeper;

    private Hapax(Builder builder) {
        store = builder.fronted();
        scopes = Map.copyOf(builder.scopes);
        codecs = builder.codecs;
        Listeners listeners = new Listeners(builder.listeners);
        ownScheduler = builder.scheduler == null;
        scheduler = builder.scheduler == null ? new ThreadScheduler() : builder.scheduler;
        handlers = builder.handlers == null ? HandlerExecutors.standard() : builder.handlers;
        Engine.Settings settings = builder.settings();
        engine = new Engine(store, scheduler, handlers, listeners, settings);
        leased = new Runner() {
            @Override
            public <T, X extends Exception> Outcome<T> run(Request<T> request, Handler<T, X> handler) throws X {
                return engine.run(request, handler);
            }
        };
        Duration every = builder.sweepEvery;
        sweeper = every == null ? null : new Sweeper(store, every, listeners, scheduler, settings.owner());
    }

    /** Begins with where operations are kept. */
    public static Builder on(Store store) {
        return new Builder(store);
    }

    /**
     * Begins a call.
     *
     * @throws IllegalArgumentException unless the scope was declared: a mistyped name would be another key space
     */
    public Scope scope(String name) {
        return scope(name, leased);
    }

    /** Calls that run within the caller's own transaction, such as {@code store.enlist(connection)}. */
    public Transactional transactional(StoreTransaction transaction) {
        Runner within = new Runner() {
            @Override
            public <T, X extends Exception> Outcome<T> run(Request<T> request, Handler<T, X> handler) throws X {
                return engine.runWithin(transaction, request, handler);
            }
        };
        return name -> scope(name, within);
    }

    /** The way into a scope, within a transaction. */
    @FunctionalInterface
    public interface Transactional {
        /** @throws IllegalArgumentException unless the scope was declared */
        Scope scope(String name);
    }

    private Scope scope(String name, Runner runner) {
        Policy policy = scopes.get(name);
        if (policy == null) {
            throw new IllegalArgumentException(
                    "scope \"%s\" is not declared; declare it with scope(\"%s\", Policy.defaults()). Declared: %s"
                            .formatted(
                                    name,
                                    name,
                                    scopes.keySet().stream().sorted().toList()));
        }
        return new Scope(this, runner, name, policy, "");
    }

    Codecs codecs() {
        return codecs;
    }

    Engine engine() {
        return engine;
    }

    Executor handlers() {
        return handlers;
    }

    Runner leased() {
        return leased;
    }

    /**
     * Runs many calls, each as {@link Call#runAsync(AsyncHandler, Executor)} does, except that all claims travel
     * together: a batch of messages costs about one round trip to claim.
     *
     * @return the outcomes, in the same order
     * @throws IllegalStateException for a call within a transaction, which belongs to one thread
     */
    public <T> List<CompletionStage<Outcome<T>>> runAll(List<Task<T>> tasks) {
        tasks.forEach(task -> task.call().requireLeased());
        return engine.runAll(tasks);
    }

    /** What the store knows of an operation; looks only. */
    public CompletionStage<Optional<Snapshot>> find(OperationId id) {
        return Stages.handOver(
                Stages.call(() -> store.find(Set.of(id))).thenApply(found -> Optional.ofNullable(found.get(id))),
                handlers);
    }

    /** Stops renewing and sweeping. Closing twice does nothing. */
    @Override
    public void close() {
        if (sweeper != null) {
            sweeper.close();
        }
        if (ownScheduler) {
            scheduler.close();
        }
    }

    /** Collects the settings of a {@link Hapax}. Not safe for use by many threads. */
    public static final class Builder {
        private static final Duration DEFAULT_SWEEP = Duration.ofMinutes(1);
        private static final String DEFAULT_SECRET = "hapax downstream keys, version 1";

        private final Store store;
        private final Map<String, Policy> scopes = new LinkedHashMap<>();
        private final List<HapaxListener> listeners = new ArrayList<>();
        private Codecs codecs = Codecs.standard();
        private @Nullable Duration sweepEvery = DEFAULT_SWEEP;
        private @Nullable String owner;
        private byte[] downstreamSecret = DEFAULT_SECRET.getBytes(StandardCharsets.UTF_8);
        private int maxWaiters = 10_000;
        private boolean fronts = true;
        private @Nullable Scheduler scheduler;
        private @Nullable Executor handlers;
        private ContextPropagation context = ContextPropagation.NONE;

        private Builder(Store store) {
            this.store = store;
        }

        /** Declares a scope: 1–255 visible ASCII characters, and how its operations are treated. */
        public Builder scope(String name, Policy policy) {
            OperationKey unused = new OperationKey("", name, "any"); // refuses a name that no call could use
            if (scopes.putIfAbsent(name, Objects.requireNonNull(policy, "policy")) != null) {
                throw new IllegalArgumentException("scope \"" + name + "\" is declared twice");
            }
            return this;
        }

        /** Adds a listener. */
        public Builder listener(HapaxListener listener) {
            listeners.add(listener);
            return this;
        }

        /** How the results of {@link Call#returning(Class)} are stored. Default: {@link Codecs#standard()}. */
        public Builder codecs(Codecs codecs) {
            this.codecs = codecs;
            return this;
        }

        /** Who claims, as people will read it in the store. Default: process id and host. */
        public Builder owner(String owner) {
            this.owner = owner;
            return this;
        }

        /**
         * The secret behind {@link Lease#downstreamKey}: the same in every process, and never changed while operations
         * may still be retried. Set it where downstream keys must not be guessable from the operation's key.
         */
        public Builder downstreamSecret(byte[] secret) {
            if (secret.length == 0) {
                throw new IllegalArgumentException("the downstream secret is empty");
            }
            this.downstreamSecret = secret.clone();
            return this;
        }

        /**
         * How many calls may wait at a time; more are told at once that the operation is in progress. Default: 10,000.
         */
        public Builder maxWaiters(int most) {
            if (most < 0) {
                throw new IllegalArgumentException("maxWaiters is " + most + "; it cannot be negative");
            }
            this.maxWaiters = most;
            return this;
        }

        /**
         * Where asynchronous handlers run, and what is chained to their stages. Default: a virtual thread for each, or
         * before Java 21 a pool of 64 threads.
         *
         * <p>A handler that waits for another stage of Hapax needs an executor without a bound: what it waits for is
         * completed there too.
         */
        public Builder handlerExecutor(Executor executor) {
            this.handlers = Objects.requireNonNull(executor, "executor");
            return this;
        }

        /** What is carried from a caller's thread to the thread of its handler. Default: nothing. */
        public Builder contextPropagation(ContextPropagation context) {
            this.context = Objects.requireNonNull(context, "context");
            return this;
        }

        /**
         * The clocks and threads that Hapax uses for itself; it is not closed with it. Default: the system's clocks and
         * a few daemon threads. For tests and simulations.
         */
        public Builder scheduler(Scheduler scheduler) {
            this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
            return this;
        }

        /** How often this process sweeps, give or take a fifth. Default: every minute. */
        public Builder sweepEvery(Duration pause) {
            this.sweepEvery = Durations.requirePositive(pause, "the pause between sweeps");
            return this;
        }

        /**
         * Asks the store itself every time, even if there is a front for stores on the class path, such as the near
         * cache of {@code hapax-cache}.
         */
        public Builder withoutFronts() {
            this.fronts = false;
            return this;
        }

        private Store fronted() {
            Store fronted = store;
            if (fronts) {
                for (StoreFront front : ServiceLoader.load(StoreFront.class, Hapax.class.getClassLoader())) {
                    fronted = front.before(fronted);
                }
            }
            return fronted;
        }

        /** Leaves sweeping to others. */
        public Builder withoutSweeper() {
            this.sweepEvery = null;
            return this;
        }

        public Hapax build() {
            return new Hapax(this);
        }

        private Engine.Settings settings() {
            Duration shortestLease = scopes.values().stream()
                    .map(Policy::lease)
                    .min(Duration::compareTo)
                    .orElse(Policy.defaults().lease());
            return new Engine.Settings(
                    owner == null ? thisProcess() : owner,
                    new DownstreamKeys(downstreamSecret),
                    shortestLease,
                    maxWaiters,
                    context);
        }

        private static String thisProcess() {
            long pid = ProcessHandle.current().pid();
            try {
                return pid + "@" + InetAddress.getLocalHost().getHostName();
            } catch (UnknownHostException nameless) {
                return pid + "@localhost";
            }
        }
    }
}
