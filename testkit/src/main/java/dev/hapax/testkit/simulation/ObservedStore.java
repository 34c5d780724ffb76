package dev.hapax.testkit.simulation;

import dev.hapax.memory.MemoryStore;
import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.Finish;
import dev.hapax.store.OperationId;
import dev.hapax.store.Release;
import dev.hapax.store.Renewal;
import dev.hapax.store.RenewalStatus;
import dev.hapax.store.Result;
import dev.hapax.store.Snapshot;
import dev.hapax.store.State;
import dev.hapax.store.Swept;
import dev.hapax.store.Written;
import dev.hapax.testkit.history.Event;
import dev.hapax.testkit.history.RecordingStore;
import dev.hapax.testkit.history.Violation;
import dev.hapax.testkit.history.Window;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The memory store, and what is written down about it at the very instant at which something takes effect. */
final class ObservedStore {
    private final MemoryStore memory;
    private final VirtualTime time;
    private final Observations observations;
    private final Map<OperationId, OperationLife> current = new LinkedHashMap<>();
    private final Map<OperationId, Integer> lives = new HashMap<>();
    private final Map<UUID, OperationLife> byToken = new HashMap<>();
    private final Map<UUID, Long> firstSentAt = new HashMap<>();
    private long awayUntil;

    ObservedStore(VirtualTime time, Observations observations) {
        this.memory = new MemoryStore(time);
        this.time = time;
        this.observations = observations;
    }

    void goAway(long nanos) {
        awayUntil = Math.max(awayUntil, time.now() + nanos);
    }

    boolean isAway() {
        return time.now() < awayUntil;
    }

    /** The operation that a token claimed; {@code null} if the store granted it nothing. */
    @Nullable
    OperationLife lifeOf(UUID token) {
        return byToken.get(token);
    }

    void sent(ClaimRequest request) {
        firstSentAt.putIfAbsent(request.token(), time.now());
    }

    /** When a claim was sent for the first time. */
    long sentAt(UUID token) {
        return firstSentAt.getOrDefault(token, 0L);
    }

    /** Whether an operation is still a token's: nobody has taken it over, reopened or parked it. */
    boolean isOwner(OperationId id, UUID token) {
        Snapshot found = snapshot(id);
        return found != null
                && found.state() == State.PROCESSING
                && found.token().equals(token);
    }

    @Nullable
    OperationLife currentLife(OperationId id) {
        return current.get(id);
    }

    Claim claim(ClaimRequest request) {
        boolean absent = snapshot(request.id()) == null;
        Claim claim = now(memory.claim(request));
        observations.trace(
                request.id(),
                () -> "claim by %s, %s: %s"
                        .formatted(
                                request.owner(), observations.nameOf(request.token()), Observations.describe(claim)));
        if (claim instanceof Claim.Won won) {
            granted(request, won, absent);
        } else if (claim instanceof Claim.Replay replay) {
            replayed(request, replay);
        }
        return claim;
    }

    private void granted(ClaimRequest request, Claim.Won won, boolean absent) {
        OperationLife before = current.get(request.id());
        boolean begins = before == null || before.isOver(time.now());
        OperationLife life = before == null || begins ? begin(request, won) : before;
        checkGeneration(life, won, begins, absent ? null : before);
        if (!life.fingerprint.equals(request.fingerprint())) {
            observations.violation(Violation.Kind.FOREIGN_REQUEST, life.name, "another request was let in");
        }
        if (life.isHeldAgainst(request)) {
            observations.violation(
                    Violation.Kind.RAN_AGAINST_POLICY, life.name, "it was abandoned, and its policy is not RERUN");
        }
        if (life.isUnknown() && !life.isOwnedBy(request.token())) {
            observations.violation(
                    Violation.Kind.RAN_AGAINST_POLICY,
                    life.name,
                    "its handler could not tell, and its policy is not RERUN");
        }
        if (won.attempt() > request.terms().maxAttempts()) {
            observations.violation(
                    Violation.Kind.RAN_AGAINST_POLICY, life.name, "attempt %d is too many".formatted(won.attempt()));
        }
        life.claimed(request, won.attempt());
        byToken.put(request.token(), life);
        observations.record(new Event.Claimed(
                life.name,
                observations.nameOf(request.token()),
                request.owner(),
                won.attempt(),
                instant(),
                request.terms().lease().toNanos()));
    }

    private OperationLife begin(ClaimRequest request, Claim.Won won) {
        int number = lives.merge(request.id(), 1, Integer::sum);
        OperationLife life = new OperationLife(request.key().key() + "#" + number, request, won);
        current.put(request.id(), life);
        return life;
    }

    private void checkGeneration(OperationLife life, Claim.Won won, boolean begins, @Nullable OperationLife stored) {
        int before = stored == null ? 0 : stored.generation;
        int expected = begins ? before + 1 : life.generation;
        if (won.generation() != expected) {
            observations.violation(
                    Violation.Kind.WRONG_GENERATION,
                    life.name,
                    "it is generation %d, not %d".formatted(expected, won.generation()));
        }
    }

    /** The store ends operations too: those that were abandoned, or attempted too often. */
    private void replayed(ClaimRequest request, Claim.Replay replay) {
        OperationLife life = current.get(request.id());
        if (life == null) {
            observations.violation(Violation.Kind.VANISHED, request.key().key(), "it was replayed, but never claimed");
            return;
        }
        if (replay.result().equals(Result.attemptsExhausted())
                && !life.isEnded()
                && life.attempts() < request.terms().maxAttempts()) {
            observations.violation(
                    Violation.Kind.ATTEMPTS_MISCOUNTED,
                    life.name,
                    "it was given up after %d attempts of %d"
                            .formatted(life.attempts(), request.terms().maxAttempts()));
        }
        endedByStore(life);
    }

    private void endedByStore(OperationLife life) {
        if (!life.isEnded()) {
            life.endedByStore(time.now());
            observations.record(new Event.GivenUp(life.name, time.now()));
        }
    }

    Written finish(Finish finish) {
        Written written = now(memory.finish(finish));
        OperationLife life = byToken.get(finish.token());
        observations.trace(
                finish.id(), () -> "finish by %s: %s".formatted(observations.nameOf(finish.token()), written));
        if (life == null) {
            unclaimed(finish.token(), written);
            return written;
        }
        String token = observations.nameOf(finish.token());
        String result = RecordingStore.digest(finish.result());
        if (written == Written.RECORDED) {
            observations.record(new Event.Completing(life.name, token, result, time.now()));
            observations.record(new Event.Completed(life.name, token, result, instant()));
            requireCurrent(finish.id(), life, token);
            life.ended(time.now(), finish.retention());
        } else {
            observations.record(new Event.Refused(life.name, token, "finish", instant()));
        }
        return written;
    }

    Written release(Release release) {
        Written written = now(memory.release(release));
        OperationLife life = byToken.get(release.token());
        observations.trace(
                release.id(),
                () -> "release by %s, %s: %s".formatted(observations.nameOf(release.token()), release.kind(), written));
        if (life == null) {
            unclaimed(release.token(), written);
            return written;
        }
        String token = observations.nameOf(release.token());
        if (written == Written.RECORDED) {
            boolean counts = release.kind() != Release.Kind.NOT_BEGUN;
            observations.record(new Event.Released(life.name, token, instant()));
            requireCurrent(release.id(), life, token);
            if (life.released(release.token(), counts) && !counts) {
                observations.record(new Event.Uncounted(life.name, token, time.now()));
            }
        } else {
            observations.record(new Event.Refused(life.name, token, "release", instant()));
        }
        return written;
    }

    private void unclaimed(UUID token, Written written) {
        if (written == Written.RECORDED) {
            observations.violation(
                    Violation.Kind.STALE_OWNER,
                    observations.nameOf(token),
                    "a write was accepted that had claimed nothing");
        }
    }

    private void requireCurrent(OperationId id, OperationLife life, String token) {
        if (current.get(id) != life) {
            observations.violation(
                    Violation.Kind.STALE_OWNER, life.name, token + " wrote into the operation that followed");
        }
    }

    RenewalStatus renew(Renewal renewal) {
        RenewalStatus status = now(memory.renew(List.of(renewal))).get(0);
        OperationLife life = byToken.get(renewal.token());
        String token = observations.nameOf(renewal.token());
        observations.trace(renewal.id(), () -> "renewal by %s: %s".formatted(token, status));
        if (life != null && status == RenewalStatus.RENEWED) {
            long lease = renewal.lease().toNanos();
            observations.record(new Event.Renewed(life.name, token, instant(), lease));
            requireCurrent(renewal.id(), life, token);
        } else if (life != null && status == RenewalStatus.LOST) {
            observations.record(new Event.Refused(life.name, token, "renew", instant()));
        }
        return status;
    }

    Map<OperationId, Snapshot> find(Collection<OperationId> ids) {
        return now(memory.find(ids));
    }

    Swept sweep(int limit) {
        Swept swept = now(memory.sweep(limit));
        current.forEach((id, life) -> {
            Snapshot found = snapshot(id);
            if (found == null && !life.mayBeRemoved(time.now())) {
                observations.violation(Violation.Kind.VANISHED, life.name, "a sweep removed it before its time");
            } else if (found != null && found.state() == State.FAILED) {
                endedByStore(life);
            }
        });
        return swept;
    }

    /** The owner heard that it has the lease. */
    void heard(ClaimRequest request, Claim claim, long calledAt) {
        OperationLife life = byToken.get(request.token());
        if (claim instanceof Claim.Won && life != null) {
            observations.record(new Event.Granted(
                    life.name,
                    observations.nameOf(request.token()),
                    new Window(calledAt, time.now()),
                    request.terms().lease().toNanos()));
        }
    }

    void heard(Renewal renewal, RenewalStatus status, long calledAt) {
        OperationLife life = byToken.get(renewal.token());
        if (status == RenewalStatus.RENEWED && life != null) {
            observations.record(new Event.Granted(
                    life.name,
                    observations.nameOf(renewal.token()),
                    new Window(calledAt, time.now()),
                    renewal.lease().toNanos()));
        }
    }

    private @Nullable Snapshot snapshot(OperationId id) {
        return now(memory.find(List.of(id))).get(id);
    }

    private Window instant() {
        return new Window(time.now(), time.now());
    }

    private static <T> T now(CompletionStage<T> stage) {
        return stage.toCompletableFuture().join();
    }
}
