package dev.hapax;

import dev.hapax.store.Renewal;
import dev.hapax.store.RenewalStatus;
import dev.hapax.store.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the leases of running handlers, all that are due in one go, at a third of their length.
 *
 * <p>A renewal counts from when it was sent, and only once it is answered. One that is not answered, or meets a lock,
 * changes nothing and is sent again. A lease is lost when the store says so, or when its handler runs longer than its
 * policy allows, because then it is no longer renewed. One that has run out on this process's own clock, and that a
 * renewal sent after that could not mend, may be lost: its handler is told, and renewals go on.
 */
final class LeaseKeeper {
    private static final Logger log = LoggerFactory.getLogger(LeaseKeeper.class);

    private final Store store;
    private final Scheduler scheduler;
    private final Executor users;
    private final Duration tick;
    private final Map<Long, Kept> leases = new ConcurrentHashMap<>();
    private final AtomicLong numbers = new AtomicLong();
    private final AtomicBoolean ticking = new AtomicBoolean();

    /** @param whenLost what this process does about a loss */
    private record Kept(HeldLease lease, Duration maxDuration, Runnable whenLost) {
        boolean mayGoOn(long now) {
            return lease.heldFor(now).compareTo(maxDuration) < 0;
        }
    }

    /** Ends the renewals of one lease. */
    @FunctionalInterface
    interface Keeping {
        void end();
    }

    /** @param users where handlers hear that their lease is lost */
    LeaseKeeper(Store store, Scheduler scheduler, Executor users, Duration shortestLease) {
        this.store = store;
        this.scheduler = scheduler;
        this.users = users;
        this.tick = Duration.ofMillis(Math.max(1, Math.min(1_000, shortestLease.toMillis() / 10)));
    }

    Keeping keep(HeldLease lease, Duration maxDuration, Runnable whenLost) {
        long number = numbers.incrementAndGet();
        leases.put(number, new Kept(lease, maxDuration, whenLost));
        try {
            scheduleTick();
        } catch (RuntimeException | Error noThread) {
            leases.remove(number);
            throw noThread;
        }
        return () -> leases.remove(number);
    }

    private void scheduleTick() {
        if (!leases.isEmpty() && ticking.compareAndSet(false, true)) {
            try {
                scheduler.schedule(tick, this::tick);
            } catch (RejectedExecutionException closed) {
                ticking.set(false);
            } catch (RuntimeException | Error noThread) {
                ticking.set(false);
                throw noThread;
            }
        }
    }

    /** Whatever is thrown here would end all ticks to come, and with them every lease. */
    private void tick() {
        try {
            renew(leasesDue(scheduler.nanoTime()));
        } catch (RuntimeException | Error e) {
            log.error("A batch of renewals could not be sent, the next one will be", e);
        }
        ticking.set(false);
        try {
            scheduleTick();
        } catch (RuntimeException | Error noThread) {
            log.error("No thread for renewals: until the next claim, leases run out", noThread);
        }
    }

    private Map<Long, Kept> leasesDue(long now) {
        Map<Long, Kept> due = new LinkedHashMap<>();
        leases.forEach((number, kept) -> {
            boolean mayGoOn = kept.mayGoOn(now);
            if (!mayGoOn && kept.lease().hasRunOut(now)) {
                lose(number, kept, "its handler ran longer than its policy allows");
            } else if (mayGoOn && kept.lease().renewalIsDue(now)) {
                due.put(number, kept);
            }
        });
        return due;
    }

    private void renew(Map<Long, Kept> due) {
        if (due.isEmpty()) {
            return;
        }
        long sentAt = scheduler.nanoTime();
        List<Renewal> renewals = new ArrayList<>();
        due.values().forEach(kept -> {
            kept.lease().renewalSent(sentAt);
            renewals.add(kept.lease().renewal());
        });
        Stages.call(() -> store.renew(renewals)).whenComplete((answers, error) -> {
            if (error != null) {
                log.warn("{} leases could not be renewed and will be tried again: {}", due.size(), error.toString());
            }
            int index = 0;
            for (Map.Entry<Long, Kept> kept : due.entrySet()) {
                RenewalStatus status = error == null ? answers.get(index++) : RenewalStatus.UNKNOWN;
                settle(kept.getKey(), kept.getValue(), status, sentAt);
            }
        });
    }

    private void settle(long number, Kept kept, RenewalStatus status, long sentAt) {
        switch (status) {
            case RENEWED -> kept.lease().renewed(sentAt);
            case LOST -> lose(number, kept, "another owner has the operation");
            case UNKNOWN -> {
                kept.lease().renewalFailed();
                if (kept.lease().hasRunOut(sentAt)) {
                    kept.lease().tellLost(users); // it may still be ours: renewals go on, and so does its flight
                }
            }
        }
    }

    /** Renews one lease that has run out before its handler could begin. */
    CompletableFuture<RenewalStatus> renewNow(HeldLease lease) {
        long sentAt = scheduler.nanoTime();
        return Stages.call(() -> store.renew(List.of(lease.renewal()))).thenApply(answers -> {
            if (answers.get(0) == RenewalStatus.RENEWED) {
                lease.renewed(sentAt);
            }
            return answers.get(0);
        });
    }

    private void lose(long number, Kept kept, String why) {
        if (leases.remove(number) != null) {
            HeldLease lease = kept.lease();
            log.warn("Lost the lease of operation {}, attempt {}: {}", lease.operationId(), lease.attempt(), why);
            kept.whenLost().run();
            lease.revoke(users);
        }
    }
}
