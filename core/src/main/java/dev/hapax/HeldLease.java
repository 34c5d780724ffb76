package dev.hapax;

import dev.hapax.store.OperationId;
import dev.hapax.store.Renewal;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/** A lease and when, on this process's own clock, it is to be renewed and would run out. */
final class HeldLease implements Lease {
    private final OperationId operationId;
    private final UUID token;
    private final int attempt;
    private final DownstreamKeys downstreamKeys;
    private final Duration lease;
    private final long wonAt;
    private final CompletableFuture<Void> lost = new CompletableFuture<>();

    private volatile long validFrom;
    private volatile boolean isLost;
    private volatile boolean hadLastChance;

    /** @param claimSentAt a moment no later than when the store began to count the lease */
    HeldLease(ClaimedAs claimed, Duration lease, DownstreamKeys downstreamKeys, long claimSentAt) {
        this.operationId = claimed.operationId();
        this.token = claimed.token();
        this.attempt = claimed.attempt();
        this.downstreamKeys = downstreamKeys;
        this.lease = lease;
        this.wonAt = claimSentAt;
        this.validFrom = claimSentAt;
    }

    record ClaimedAs(OperationId operationId, UUID token, int attempt) {}

    @Override
    public OperationId operationId() {
        return operationId;
    }

    @Override
    public int attempt() {
        return attempt;
    }

    @Override
    public UUID token() {
        return token;
    }

    @Override
    public String downstreamKey(String name) {
        return downstreamKeys.of(operationId, name);
    }

    @Override
    public boolean isLost() {
        return isLost;
    }

    @Override
    public CompletionStage<Void> lost() {
        return lost.minimalCompletionStage();
    }

    Renewal renewal() {
        return new Renewal(operationId, token, lease);
    }

    boolean renewalIsDue(long now) {
        return now - validFrom >= lease.toNanos() / 3;
    }

    boolean hasRunOut(long now) {
        return now - validFrom >= lease.toNanos();
    }

    Duration heldFor(long now) {
        return Duration.ofNanos(now - wonAt);
    }

    void renewed(long sentAt) {
        validFrom = sentAt;
        hadLastChance = false;
    }

    /** A lease that ran out by our own, careful count may still be ours: once, it may be renewed after all. */
    boolean mayHaveLastChance() {
        return !hadLastChance;
    }

    void takeLastChance() {
        hadLastChance = true;
    }

    /** @param executor where the handler's own code hears of it */
    void markLost(Executor executor) {
        isLost = true;
        executor.execute(() -> lost.complete(null));
    }

    void whenLost(Runnable action) {
        lost.thenRun(action);
    }
}
