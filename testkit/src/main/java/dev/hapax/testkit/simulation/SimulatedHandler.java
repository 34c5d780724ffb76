package dev.hapax.testkit.simulation;

import dev.hapax.Lease;
import dev.hapax.NotBegunException;
import dev.hapax.Policy;
import dev.hapax.TerminalFailure;
import dev.hapax.codec.Codec;
import dev.hapax.store.Result;
import dev.hapax.store.WhenAbandoned;
import dev.hapax.testkit.history.Event;
import dev.hapax.testkit.history.RecordingStore;
import dev.hapax.testkit.history.Violation;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A handler that is quick or slow, fails or succeeds or hangs, calls Hapax again, and asks whether it has its lease.
 */
final class SimulatedHandler {
    private static final int TERMINAL_CODE = 402;

    private final Surroundings in;
    private final Lease lease;
    private final boolean mayNest;
    private final @Nullable OperationLife life;

    /**
     * What a handler runs in.
     *
     * @param running the last handler that began, by instance and key
     * @param admittedAt when a call of this instance and key was last admitted without the store
     * @param hang says that this handler never ends
     * @param callAgain calls Hapax once more
     */
    record Surroundings(
            SimulatedInstance instance,
            String key,
            String request,
            Policy policy,
            VirtualTime time,
            Chance chance,
            ObservedStore store,
            Observations observations,
            Map<String, Running> running,
            LongSupplier admittedAt,
            Runnable hang,
            Runnable callAgain) {}

    /**
     * A handler that runs.
     *
     * @param until when it will have run for longer than its policy allows
     */
    record Running(UUID token, boolean isProtected, long until) {}

    /** What a handler leaves behind. */
    record Produced(String life, String request, String token) {
        String write() {
            return "produced|%s|%s|%s".formatted(life, request, token);
        }

        static @Nullable Produced read(@Nullable String text) {
            String[] parts = text == null ? new String[0] : text.split("\\|", -1);
            return parts.length == 4 ? new Produced(parts[1], parts[2], parts[3]) : null;
        }
    }

    SimulatedHandler(Surroundings in, Lease lease, boolean mayNest) {
        this.in = in;
        this.lease = lease;
        this.mayNest = mayNest;
        this.life = in.store().lifeOf(lease.token());
    }

    CompletionStage<String> run() {
        if (in.chance().oneIn(12)) {
            throw new NotBegunException("it did nothing");
        }
        begin();
        if (mayNest && in.chance().oneIn(6)) {
            in.callAgain().run();
        }
        CompletableFuture<String> end = new CompletableFuture<>();
        if (in.chance().strikes(FaultKind.HANDLER_HUNG)) {
            in.observations().trace(in.key(), () -> "handler of " + token() + " hangs");
            in.hang().run();
            return end;
        }
        boolean slow = in.chance().oneIn(4);
        long takes = in.chance().nanosUpTo(slow ? in.policy().lease().multipliedBy(4) : Duration.ofMillis(50));
        ask(takes);
        in.instance().later(takes, () -> end(end));
        return end;
    }

    private String token() {
        return in.observations().nameOf(lease.token());
    }

    private void begin() {
        in.observations()
                .trace(
                        in.key(),
                        () -> "handler of %s begins on %s, attempt %d"
                                .formatted(token(), in.instance().name(), lease.attempt()));
        if (life != null) {
            in.observations()
                    .record(new Event.Ran(
                            life.name, token(), lease.attempt(), in.time().now()));
        }
        long now = in.time().now();
        long until = admittedAt() + in.policy().maxDuration().toNanos() / 100 * 98;
        Running other = in.running().put(where(), new Running(lease.token(), life != null, until));
        if (life == null && other != null && other.until() > now && isAlive(other)) {
            in.observations()
                    .violation(
                            Violation.Kind.RAN_AT_ONCE,
                            in.key(),
                            "a handler began without a claim while another one ran in the same instance");
        }
    }

    /** How long it may run counts from when it was admitted, not from when it began. */
    private long admittedAt() {
        return life == null ? in.admittedAt().getAsLong() : in.store().sentAt(lease.token());
    }

    /** One that lost its claim does not keep others from running. */
    private boolean isAlive(Running other) {
        return !other.isProtected() || in.store().isOwner(lease.operationId(), other.token());
    }

    private String where() {
        return in.instance().name() + "/" + in.key();
    }

    /** Asks now and then, while it runs, whether it still has its lease. */
    private void ask(long takes) {
        int questions = in.chance().below(4);
        for (int i = 0; i < questions; i++) {
            in.instance().later(in.chance().nanosUpTo(Duration.ofNanos(takes)), () -> {
                if (life != null && !lease.isLost()) {
                    in.observations()
                            .record(new Event.Holding(
                                    life.name, token(), in.time().now()));
                }
            });
        }
    }

    private void end(CompletableFuture<String> end) {
        in.running().computeIfPresent(where(), (place, it) -> it.token().equals(lease.token()) ? null : it);
        String produced = new Produced(life == null ? "unprotected" : life.name, in.request(), token()).write();
        int how = in.chance().below(8);
        in.observations().trace(in.key(), () -> "handler of " + token() + " ends, " + how);
        if (how == 0) {
            end.completeExceptionally(new TerminalFailure(TERMINAL_CODE, produced));
        } else if (how == 1) {
            RuntimeException failure = SimulatedRun.anyFailure(in.chance());
            if (life != null
                    && in.policy().isUnknown(failure)
                    && in.policy().whenAbandoned() != WhenAbandoned.RERUN
                    && in.store().isOwner(lease.operationId(), lease.token())) {
                life.leftUnknown();
            }
            end.completeExceptionally(failure);
        } else {
            end.complete(produced);
        }
    }

    /** How the history names a result, whether it was stored or a caller got it. */
    static String digest(@Nullable TerminalFailure failure, String text) {
        try {
            return RecordingStore.digest(
                    failure == null
                            ? Result.completed(Codec.text().encode(text))
                            : Result.failed(failure.code(), failure.getMessage()));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
