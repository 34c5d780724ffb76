package dev.hapax;

import dev.hapax.store.Claim;
import dev.hapax.store.OperationId;
import dev.hapax.store.Renewal;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** A lease, and how long it lasts for certain on this process's own clock. */
final class HeldLease implements Lease {
    private final OperationId operationId;
    private final UUID token;
    private final Claim.Won won;
    private final DownstreamKeys downstreamKeys;
    private final Duration lease;
    private final Scheduler clock;
    private final long wonAt;
    private final boolean claimSentAgain;
    private final CompletableFuture<Void> lost = new CompletableFuture<>();

    /** When the claim or renewal that counts was sent: the store began to count the lease no earlier. */
    private final AtomicLong validFrom;

    private volatile long renewalSentAt;
    private volatile boolean revoked;
    private volatile boolean settling;
    private final AtomicInteger resumes = new AtomicInteger();

    /**
     * @param sentAt when the claim was sent
     * @param sentAgain whether it was sent more than once
     */
    record Claimed(OperationId operationId, UUID token, Claim.Won won, long sentAt, boolean sentAgain) {}

    HeldLease(Claimed claimed, Duration lease, DownstreamKeys downstreamKeys, Scheduler clock) {
        this.operationId = claimed.operationId();
        this.token = claimed.token();
        this.won = claimed.won();
        this.downstreamKeys = downstreamKeys;
        this.lease = lease;
        this.clock = clock;
        this.wonAt = claimed.sentAt();
        this.claimSentAgain = claimed.sentAgain();
        this.validFrom = new AtomicLong(wonAt);
        this.renewalSentAt = wonAt;
    }

    @Override
    public OperationId operationId() {
        return operationId;
    }

    @Override
    public int attempt() {
        return won.attempt();
    }

    @Override
    public int generation() {
        return won.generation();
    }

    @Override
    public UUID token() {
        return token;
    }

    @Override
    public String downstreamKey(String name) {
        return downstreamKeys.of(operationId, won.generation(), name);
    }

    @Override
    public boolean isLost() {
        return revoked || hasRunOut(clock.nanoTime());
    }

    /** Whether it is no longer renewed: the store or its policy took it away. */
    boolean isRevoked() {
        return revoked;
    }

    @Override
    public CompletionStage<Void> lost() {
        return lost.minimalCompletionStage();
    }

    /** Whether the claim was sent more than once, so that one of them may still be on its way. */
    boolean claimSentAgain() {
        return claimSentAgain;
    }

    Renewal renewal() {
        return new Renewal(operationId, token, lease);
    }

    /** One that was sent and not answered is sent again after another third. */
    boolean renewalIsDue(long now) {
        return now - Math.max(validFrom.get(), renewalSentAt) >= lease.toNanos() / 3;
    }

    boolean hasRunOut(long now) {
        return now - validFrom.get() >= lease.toNanos();
    }

    Duration heldFor(long now) {
        return Duration.ofNanos(now - wonAt);
    }

    void renewalSent(long at) {
        renewalSentAt = at;
    }

    /** Answers may come in another order than renewals were sent. */
    void renewed(long sentAt) {
        validFrom.accumulateAndGet(sentAt, Math::max);
    }

    /** It is due again at once. */
    void renewalFailed() {
        renewalSentAt = validFrom.get();
    }

    /** The handler has ended, and the store is being told: what its lease does from here on is not its concern. */
    void settling() {
        settling = true;
    }

    /** How often the lease was renewed because it was over before its handler began, this time included. */
    int resumed() {
        return resumes.incrementAndGet();
    }

    /** @param users where the handler's own code hears of it */
    void revoke(Executor users) {
        revoked = true;
        tellLost(users);
    }

    /** It may be lost, for all that this process knows. */
    void tellLost(Executor users) {
        if (settling || lost.isDone()) {
            return;
        }
        try {
            users.execute(() -> lost.complete(null));
        } catch (RuntimeException | Error refused) {
            lost.complete(null);
        }
    }
}
