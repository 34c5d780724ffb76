package dev.hapax;

import dev.hapax.store.Renewal;
import dev.hapax.store.RenewalStatus;
import dev.hapax.store.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the leases of running handlers, all that are due in one go, at a third of their length.
 *
 * <p>A handler that runs longer than its policy allows is no longer renewed: its lease runs out and the operation gets
 * what {@code whenAbandoned} says. A lease that could not be renewed in time counts as lost for its handler, since
 * another process may own the operation by then; whether it really is lost, only the store decides.
 */
final class LeaseKeeper {
    private static final Logger log = LoggerFactory.getLogger(LeaseKeeper.class);
    private static final int MOST_AT_ONCE = 1_000;

    private final Store store;
    private final Background background;
    private final Map<HeldLease, Duration> maxDurations = new ConcurrentHashMap<>();
    private final AtomicBoolean renewing = new AtomicBoolean();

    /** A thread of its own: handlers that keep every worker busy must not cost others their leases. */
    private final ThreadPoolExecutor renewer = new ThreadPoolExecutor(
            0, 1, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), Background.daemons("hapax-renewer"));

    LeaseKeeper(Store store, Background background, Duration shortestLease) {
        this.store = store;
        this.background = background;
        long tick = Math.max(1, Math.min(1_000, shortestLease.toMillis() / 10));
        ScheduledExecutorService timer = background.timer();
        timer.scheduleWithFixedDelay(this::tick, tick, tick, TimeUnit.MILLISECONDS);
    }

    void keep(HeldLease lease, Duration maxDuration) {
        maxDurations.put(lease, maxDuration);
    }

    void letGo(HeldLease lease) {
        maxDurations.remove(lease);
    }

    /** Whatever is thrown here would end all ticks to come, and with them every lease. */
    private void tick() {
        try {
            renewAll(lookAround(System.nanoTime()));
        } catch (RuntimeException | Error e) {
            log.error("A round of renewals could not begin, the next one will try again", e);
            renewing.set(false);
        }
    }

    /** @return the leases to renew now */
    private List<HeldLease> lookAround(long now) {
        List<HeldLease> due = new ArrayList<>();
        maxDurations.forEach((lease, maxDuration) -> {
            boolean mayGoOn = lease.heldFor(now).compareTo(maxDuration) < 0;
            if (lease.hasRunOut(now) && !(mayGoOn && lease.mayHaveLastChance())) {
                lose(lease, "it ran out before it could be renewed");
            } else if (mayGoOn && lease.renewalIsDue(now)) {
                due.add(lease);
            }
        });
        return due;
    }

    private void renewAll(List<HeldLease> due) {
        if (!due.isEmpty() && renewing.compareAndSet(false, true)) {
            List<HeldLease> batch = List.copyOf(due.subList(0, Math.min(due.size(), MOST_AT_ONCE)));
            long now = System.nanoTime();
            batch.stream().filter(lease -> lease.hasRunOut(now)).forEach(HeldLease::takeLastChance);
            renewer.execute(() -> renew(batch).whenComplete((done, error) -> renewing.set(false)));
        }
    }

    private CompletionStage<?> renew(List<HeldLease> leases) {
        long sentAt = System.nanoTime();
        List<Renewal> renewals = leases.stream().map(HeldLease::renewal).toList();
        return Stages.call(() -> store.renew(renewals))
                .thenAccept(lost -> settle(leases, lost, sentAt))
                .exceptionally(error -> {
                    log.warn(
                            "{} leases could not be renewed and will be tried again: {}",
                            leases.size(),
                            error.toString());
                    return null;
                });
    }

    private void settle(List<HeldLease> leases, List<RenewalStatus> answers, long sentAt) {
        for (int i = 0; i < leases.size(); i++) {
            HeldLease lease = leases.get(i);
            if (answers.get(i) == RenewalStatus.RENEWED) {
                lease.renewed(sentAt);
            } else if (answers.get(i) == RenewalStatus.LOST && maxDurations.containsKey(lease)) {
                lose(lease, "somebody else has the operation now");
            }
        }
    }

    private void lose(HeldLease lease, String why) {
        letGo(lease);
        log.warn("Lost the lease of operation {}, attempt {}: {}", lease.operationId(), lease.attempt(), why);
        lease.markLost(background);
    }
}
