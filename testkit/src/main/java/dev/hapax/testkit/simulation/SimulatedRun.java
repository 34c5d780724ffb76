package dev.hapax.testkit.simulation;

import dev.hapax.ClaimLostException;
import dev.hapax.Ending;
import dev.hapax.Hapax;
import dev.hapax.HapaxListener;
import dev.hapax.NotBegunException;
import dev.hapax.OnStoreFailure;
import dev.hapax.Outcome;
import dev.hapax.OutcomeUnknownException;
import dev.hapax.Policy;
import dev.hapax.WhenInFlight;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.OperationKey;
import dev.hapax.store.StoreUnavailableException;
import dev.hapax.store.WhenAbandoned;
import dev.hapax.testkit.history.Event;
import dev.hapax.testkit.history.Violation;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;

/**
 * One run: a few instances of the real engine, a few keys that all of them call, a minute or two of bad weather, and
 * then calls under a clear sky until every operation has its end. Everything is drawn from the seed.
 */
final class SimulatedRun {
    static final Duration LONGEST_LEASE = Duration.ofSeconds(10);
    private static final String SCOPE = "simulated";
    private static final String TENANT = "t";
    private static final Duration SETTLE = Duration.ofMinutes(2);
    private static final Duration PATIENCE = Duration.ofMinutes(30);

    /** What a caller may be told instead of an outcome; anything else is a mistake of the engine. */
    private static final List<Class<? extends Throwable>> EXPECTED = List.of(
            InjectedError.class,
            StoreUnavailableException.class,
            ClaimLostException.class,
            NotBegunException.class,
            OutcomeUnknownException.class,
            RejectedExecutionException.class,
            ExpectedFailure.class);

    private final Chance chance;
    private final VirtualTime time = new VirtualTime();
    private final Observations observations;
    private final ObservedStore store;
    private final PendingCalls calls;
    private final List<Node> nodes = new ArrayList<>();
    private final List<String> keys = new ArrayList<>();
    private final Set<String> answered = new LinkedHashSet<>();
    private final Map<String, SimulatedHandler.Running> running = new LinkedHashMap<>();
    private final Map<String, Long> admittedUnprotected = new LinkedHashMap<>();
    private final long horizon;
    private Policy policy;
    private int started;
    private int operations;
    private int attempts;

    private record Node(SimulatedInstance instance, Hapax hapax, Policy policy) {}

    /** One call, and what its request was. */
    private record CallContext(Node node, String key, String request) {}

    SimulatedRun(long seed, boolean traced) {
        this.chance = new Chance(seed);
        this.observations = new Observations(time, traced);
        this.store = new ObservedStore(time, observations);
        this.calls = new PendingCalls(observations);
        this.horizon = Duration.ofSeconds(30 + chance.below(120)).toNanos();
        this.policy = anyPolicy();
    }

    SimulationResult run() {
        int keyCount = 1 + chance.below(3);
        for (int i = 1; i <= keyCount; i++) {
            keys.add("k" + i);
            observations.name(new OperationKey(TENANT, SCOPE, "k" + i).id(), "k" + i);
        }
        int nodeCount = 1 + chance.below(3);
        for (int i = 0; i < nodeCount; i++) {
            start();
        }
        planCalls();
        planWeather();
        time.run(horizon);
        clearUp();
        return new SimulationResult(
                operations,
                attempts,
                chance.struck(),
                observations.judge(LONGEST_LEASE.dividedBy(50)),
                observations::traceOf,
                observations::wholeTrace);
    }

    private void planCalls() {
        int calls = 20 + chance.below(30);
        for (int i = 0; i < calls; i++) {
            time.at((long) (chance.between(0, 1) * horizon), () -> call(chance.pick(keys)));
        }
    }

    private void planWeather() {
        int storms = 4 + chance.below(12);
        for (int i = 0; i < storms; i++) {
            time.at((long) (chance.between(0, 1) * horizon), this::storm);
        }
    }

    private void storm() {
        Node node = chance.pick(nodes);
        if (chance.strikes(FaultKind.INSTANCE_FROZEN)) {
            long nanos = chance.nanosUpTo(LONGEST_LEASE.multipliedBy(3));
            observations.trace("", () -> node.instance().name() + " is frozen for " + nanos / 1_000_000 + " ms");
            node.instance().freeze(Duration.ofNanos(nanos));
        }
        if (chance.strikes(FaultKind.STORE_AWAY)) {
            long nanos = chance.nanosUpTo(Duration.ofSeconds(20));
            observations.trace("", () -> "the store is away for " + nanos / 1_000_000 + " ms");
            store.goAway(nanos);
        }
        if (chance.strikes(FaultKind.INSTANCE_KILLED)) {
            kill(node);
            start();
        }
        if (chance.strikes(FaultKind.POLICY_CHANGED)) {
            deploy();
        }
    }

    private void kill(Node node) {
        observations.trace("", () -> node.instance().name() + " is killed");
        node.instance().kill();
        observations.record(new Event.Abandoned(node.instance().name(), time.now()));
        nodes.remove(node);
        running.keySet().removeIf(it -> it.startsWith(node.instance().name() + "/"));
    }

    /** New instances with another policy take the calls; what the old ones have begun they bring to its end. */
    private void deploy() {
        policy = anyPolicy();
        observations.trace("", () -> "deployed: " + describe(policy));
        int count = nodes.size();
        nodes.clear();
        for (int i = 0; i < count; i++) {
            start();
        }
    }

    private static String describe(Policy policy) {
        return "lease %s, retention %s, window %s, %s, %d attempts, %s"
                .formatted(
                        policy.lease(),
                        policy.retention(),
                        policy.window(),
                        policy.whenAbandoned(),
                        policy.maxAttempts(),
                        policy.onStoreFailure());
    }

    private void start() {
        String name = "i" + ++started;
        SimulatedInstance instance = new SimulatedInstance(
                name, time, chance, thrown -> observations.violation(Violation.Kind.UNCAUGHT, name, thrown.toString()));
        Hapax hapax = Hapax.on(new RemoteStore(instance, store, time, chance, calls))
                .scope(SCOPE, policy)
                .owner(name)
                .listener(new HapaxListener() {
                    @Override
                    public void unprotected(OperationKey key, Throwable cause) {
                        admittedUnprotected.put(name + "/" + key.key(), time.now());
                    }
                })
                .scheduler(instance)
                .handlerExecutor(instance.handlers(LONGEST_LEASE.multipliedBy(2)))
                .sweepEvery(Duration.ofSeconds(1 + chance.below(20)))
                .withoutFronts()
                .build();
        instance.started();
        nodes.add(new Node(instance, hapax, policy));
    }

    private Policy anyPolicy() {
        Duration lease = Duration.ofMillis(500 + chance.below((int) LONGEST_LEASE.toMillis() - 500));
        Policy drawn = Policy.defaults()
                .lease(lease)
                .maxDuration(lease.multipliedBy(2 + chance.below(5)))
                .retention(Duration.ofSeconds(chance.pick(List.of(20, 60, 3600))))
                .maxAttempts(chance.pick(List.of(1, 2, 3, 10)))
                .whenAbandoned(chance.pick(
                        List.of(WhenAbandoned.RERUN, WhenAbandoned.RERUN, WhenAbandoned.FAIL, WhenAbandoned.PARK)))
                .onStoreFailure(chance.oneIn(4) ? OnStoreFailure.OPEN : OnStoreFailure.CLOSED)
                .unknownOn(thrown -> thrown instanceof ExpectedFailure failure && failure.isUnknown());
        if (chance.oneIn(4)) {
            drawn = drawn.window(Duration.ofSeconds(5 + chance.below(15)));
        }
        return chance.oneIn(2)
                ? drawn.whenInFlight(WhenInFlight.waitAtMost(Duration.ofSeconds(1 + chance.below(20))))
                : drawn;
    }

    private void call(String key) {
        Node node = chance.pick(nodes);
        String request = chance.oneIn(8) ? "B" : "A";
        node.instance().later(1, () -> call(new CallContext(node, key, request), true));
    }

    private void call(CallContext call, boolean mayNest) {
        operations++;
        int number = calls.begin(call.node().instance(), call.key());
        call.node()
                .hapax()
                .scope(SCOPE)
                .tenant(TENANT)
                .key(call.key())
                .fingerprint(Fingerprint.of(call.request().getBytes(StandardCharsets.UTF_8)))
                .returning(String.class)
                .runAsync(lease -> {
                    attempts++;
                    return new SimulatedHandler(handling(call, number), lease, mayNest).run();
                })
                .whenComplete((outcome, error) -> {
                    calls.answered(number);
                    told(call, outcome, error);
                });
        calls.begun();
    }

    private SimulatedHandler.Surroundings handling(CallContext call, int number) {
        return new SimulatedHandler.Surroundings(
                call.node().instance(),
                call.key(),
                call.request(),
                call.node().policy(),
                time,
                chance,
                store,
                observations,
                running,
                () -> admittedUnprotected.getOrDefault(call.node().instance().name() + "/" + call.key(), 0L),
                () -> calls.hangs(number),
                () -> call(new CallContext(call.node(), chance.pick(keys), call.request()), false));
    }

    private void told(CallContext call, Outcome<String> outcome, Throwable error) {
        if (error != null) {
            requireKnown(call, error);
            return;
        }
        observations.trace(
                call.key(),
                () -> "%s is told %s"
                        .formatted(
                                call.node().instance().name(),
                                outcome.getClass().getSimpleName()));
        outcome.fold(
                executed -> executed.recorded() && answered(call, executed.ending()),
                replayed -> replayed.keptUntil().isAfter(replayed.endedAt()) && answered(call, replayed.ending()),
                inProgress -> false,
                mismatched -> false,
                inDoubt -> givenUp(call));
    }

    private void requireKnown(CallContext call, Throwable error) {
        Throwable cause =
                error instanceof CompletionException wrapped && wrapped.getCause() != null ? wrapped.getCause() : error;
        observations.trace(call.key(), () -> call.node().instance().name() + " is told " + cause);
        if (EXPECTED.stream().noneMatch(type -> type.isInstance(cause))) {
            observations.violation(Violation.Kind.UNCAUGHT, call.key(), cause.toString());
        }
    }

    private boolean answered(CallContext call, Ending<String> ending) {
        String text = ending.failure().map(Throwable::getMessage).orElseGet(ending::value);
        SimulatedHandler.Produced produced = SimulatedHandler.Produced.read(text);
        if (produced == null) {
            return givenUp(call);
        }
        if (!produced.request().equals(call.request())) {
            observations.violation(
                    Violation.Kind.FOREIGN_REQUEST, produced.life(), "a caller got the result of another request");
        }
        answered.add(produced.life());
        observations.record(new Event.Answered(produced.life(), digest(ending, text), time.now()));
        return true;
    }

    private static String digest(Ending<String> ending, String text) {
        return SimulatedHandler.digest(ending.failure().orElse(null), text);
    }

    private boolean givenUp(CallContext call) {
        OperationLife life = store.currentLife(new OperationKey(TENANT, SCOPE, call.key()).id());
        if (life != null) {
            answered.add(life.name);
            observations.record(new Event.GivenUp(life.name, time.now()));
        }
        return true;
    }

    /** Nothing goes wrong any more: every operation has to come to its end, and its callers to hear of it. */
    private void clearUp() {
        chance.heal();
        observations.trace("", () -> "from here on nothing goes wrong");
        nodes.clear();
        start();
        Set<String> unanswered = new LinkedHashSet<>(keys);
        long until = time.now() + PATIENCE.toNanos();
        while (!unanswered.isEmpty() && time.now() < until) {
            unanswered.forEach(this::callCalmly);
            time.run(time.now() + policy.lease().toNanos());
            if (unanswered().isEmpty()) {
                time.run(time.now() + SETTLE.toNanos());
            }
            unanswered = unanswered();
        }
        calls.requireNone();
        unanswered.forEach(key -> observations.violation(
                Violation.Kind.NEVER_ENDED, key, "it has no end after " + PATIENCE + " without faults"));
    }

    private void callCalmly(String key) {
        Node node = nodes.get(0);
        node.instance().later(1, () -> call(new CallContext(node, key, requestOf(key)), false));
    }

    /** Old instances may still begin something, on their own or when they are no longer frozen. */
    private Set<String> unanswered() {
        Set<String> unanswered = new LinkedHashSet<>(keys);
        unanswered.removeIf(key -> {
            OperationLife life = store.currentLife(new OperationKey(TENANT, SCOPE, key).id());
            return life != null && answered.contains(life.name);
        });
        return unanswered;
    }

    /** The request that an operation was begun with: another one would be a mismatch for good. */
    private String requestOf(String key) {
        OperationLife life = store.currentLife(new OperationKey(TENANT, SCOPE, key).id());
        boolean other = life != null && life.fingerprint.equals(Fingerprint.of("B".getBytes(StandardCharsets.UTF_8)));
        return other ? "B" : "A";
    }

    /** What a handler throws that did something. */
    static RuntimeException anyFailure(Chance chance) {
        return switch (chance.below(3)) {
            case 0 -> new ExpectedFailure("try again", false);
            case 1 -> new ExpectedFailure("unknown to the policy", true);
            default -> new OutcomeUnknownException("unknown", null);
        };
    }
}
