package dev.hapax.memory;

import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.ExpiredLease;
import dev.hapax.store.Finish;
import dev.hapax.store.OperationId;
import dev.hapax.store.Release;
import dev.hapax.store.Renewal;
import dev.hapax.store.RenewalStatus;
import dev.hapax.store.Result;
import dev.hapax.store.Ruling;
import dev.hapax.store.Snapshot;
import dev.hapax.store.State;
import dev.hapax.store.Store;
import dev.hapax.store.Swept;
import dev.hapax.store.Written;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * Keeps operations in this process: for tests, and as the shortest way to read what a {@link Store} does.
 *
 * <p>Every step replaces one row of a concurrent map atomically. Time is injected: with a clock that stands still,
 * leases do not run out.
 */
public final class MemoryStore implements Store {
    private final Map<OperationId, Row> rows = new ConcurrentHashMap<>();
    private final InstantSource clock;

    public MemoryStore() {
        this(InstantSource.system());
    }

    public MemoryStore(InstantSource clock) {
        this.clock = clock;
    }

    @Override
    public CompletionStage<Claim> claim(ClaimRequest request) {
        Claim[] answer = {new Claim.Won(1)};
        Instant now = clock.instant();
        rows.compute(request.id(), (id, row) -> {
            if (row == null) {
                return Row.created(request, now);
            }
            Snapshot found = row.snapshot(now);
            Ruling ruling = Ruling.on(request, found);
            answer[0] = ruling.answer(found);
            return carryOut(ruling, request, row, now);
        });
        return done(answer[0]);
    }

    private static Row carryOut(Ruling ruling, ClaimRequest request, Row row, Instant now) {
        if (ruling instanceof Ruling.BeginAnew) {
            return row.begunAnew(request, now);
        } else if (ruling instanceof Ruling.Resume) {
            return row.until(now.plus(request.terms().lease()));
        } else if (ruling instanceof Ruling.TakeOver) {
            return row.claimedBy(request, now);
        } else if (ruling instanceof Ruling.Fail fail) {
            return row.endedByOthers(fail.result(), now);
        } else if (ruling instanceof Ruling.Park) {
            return row.parkedByOthers();
        }
        return row;
    }

    @Override
    public CompletionStage<Written> finish(Finish finish) {
        return done(asOwner(
                finish.id(),
                finish.token(),
                row -> row.ended(finish.result(), finish.token(), clock.instant(), finish.retention()),
                row -> row.state().isTerminal()));
    }

    @Override
    public CompletionStage<Written> release(Release release) {
        return done(asOwner(
                release.id(),
                release.token(),
                row -> release.kind() == Release.Kind.IN_DOUBT
                        ? row.parked(release.token())
                        : row.pending(
                                release.token(),
                                clock.instant().plus(release.pendingFor()),
                                release.kind().uncounted()),
                row -> row.state() == release.kind().leadsTo()));
    }

    @Override
    public CompletionStage<List<RenewalStatus>> renew(List<Renewal> renewals) {
        return done(renewals.stream().map(this::renew).toList());
    }

    private RenewalStatus renew(Renewal renewal) {
        RenewalStatus[] answer = {RenewalStatus.LOST};
        rows.computeIfPresent(renewal.id(), (key, row) -> {
            if (!row.token().equals(renewal.token())) {
                return row;
            } else if (row.state() != State.PROCESSING) {
                answer[0] = RenewalStatus.UNKNOWN;
                return row;
            }
            answer[0] = RenewalStatus.RENEWED;
            return row.until(clock.instant().plus(renewal.lease()));
        });
        return answer[0];
    }

    /** Writes if the claim is the sender's; a write that was made before counts as made. */
    private Written asOwner(OperationId id, UUID token, UnaryOperator<Row> write, Predicate<Row> madeBefore) {
        Written[] answer = {Written.CLAIM_LOST};
        rows.computeIfPresent(id, (key, row) -> {
            boolean ours = row.token().equals(token);
            if (ours && row.state() == State.PROCESSING) {
                answer[0] = Written.RECORDED;
                return write.apply(row);
            }
            answer[0] = ours && madeBefore.test(row) ? Written.RECORDED : Written.CLAIM_LOST;
            return row;
        });
        return answer[0];
    }

    @Override
    public CompletionStage<Map<OperationId, Snapshot>> find(Collection<OperationId> ids) {
        Instant now = clock.instant();
        Map<OperationId, Snapshot> found = new HashMap<>();
        for (OperationId id : ids) {
            Row row = rows.get(id);
            if (row != null) {
                found.put(id, row.snapshot(now));
            }
        }
        return done(found);
    }

    @Override
    public CompletionStage<Swept> sweep(int limit) {
        Instant now = clock.instant();
        List<OperationId> due = rows.entrySet().stream()
                .filter(entry -> !entry.getValue().deadline().isAfter(now))
                .sorted(Comparator.comparing(entry -> entry.getValue().deadline()))
                .limit(limit)
                .map(Map.Entry::getKey)
                .toList();
        Swept swept = Swept.NOTHING;
        for (OperationId id : due) {
            swept = swept.plus(sweep(id));
        }
        return done(swept);
    }

    private Swept sweep(OperationId id) {
        Swept[] swept = {Swept.NOTHING};
        Instant now = clock.instant();
        rows.computeIfPresent(id, (key, row) -> {
            if (row.deadline().isAfter(now)) {
                return row;
            } else if (row.state().isTerminal()) {
                swept[0] = new Swept(1, 0, List.of());
                return null;
            } else if (row.state() == State.PENDING) {
                swept[0] = new Swept(0, 1, List.of());
                return row.endedByOthers(Result.timedOut(), now);
            }
            Row reclaimed = reclaim(row, now);
            ExpiredLease lease = Objects.requireNonNull(row.snapshot(now).expiredLease(), "it is past its deadline");
            swept[0] = new Swept(0, 0, List.of(new Swept.Reclaimed(lease, reclaimed.state())));
            return reclaimed;
        });
        return swept[0];
    }

    private static Row reclaim(Row row, Instant now) {
        return switch (row.request().terms().whenAbandoned()) {
            case RERUN ->
                row.pending(UUID.randomUUID(), now.plus(row.request().terms().retention()));
            case FAIL -> row.endedByOthers(Result.abandoned(), now);
            case PARK -> row.parkedByOthers();
        };
    }

    @Override
    public void close() {}

    private static <T> CompletionStage<T> done(T value) {
        return CompletableFuture.completedFuture(value);
    }
}
