package dev.hapax.postgres.outbox;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The part of a relay that may read many rows and is not urgent, on a thread of its own: counts the lag for listeners,
 * and once an hour looks for waiting messages that have become the first of their ordering key unnoticed, which happens
 * if rows are deleted by hand. One statement at a time. A failure is logged; the lag is counted again after its
 * interval, and the look for messages is repeated after a minute.
 */
final class OutboxMaintenance implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(OutboxMaintenance.class);
    private static final Duration REPAIR_EVERY = Duration.ofHours(1);
    private static final Duration RETRY_REPAIR_AFTER = Duration.ofMinutes(1);

    private final OutboxTable table;
    private final Supplier<OutboxLag> lag;
    private final Duration lagEvery;
    private final RelayEvents events;
    private final Runnable wakeRelay;
    private final CountDownLatch closed = new CountDownLatch(1);

    OutboxMaintenance(
            OutboxTable table, Supplier<OutboxLag> lag, Duration lagEvery, RelayEvents events, Runnable wakeRelay) {
        this.table = table;
        this.lag = lag;
        this.lagEvery = lagEvery;
        this.events = events;
        this.wakeRelay = wakeRelay;
    }

    /** Does not wait for a statement that is running. */
    void close() {
        closed.countDown();
    }

    @Override
    public void run() {
        long repairAt = System.nanoTime();
        long lagAt = repairAt;
        long pause;
        do {
            long now = System.nanoTime();
            if (now - repairAt >= 0) {
                boolean repaired = succeeds("look for messages that wait for nothing", this::repair);
                repairAt = now + RelayLoop.jittered(repaired ? REPAIR_EVERY : RETRY_REPAIR_AFTER);
            }
            if (events.hasListeners() && now - lagAt >= 0) {
                succeeds("count the lag", () -> events.lag(lag.get()));
                lagAt = System.nanoTime() + RelayLoop.jittered(lagEvery);
            }
            now = System.nanoTime();
            pause = events.hasListeners() ? Math.min(repairAt - now, lagAt - now) : repairAt - now;
        } while (!isClosedWithin(pause));
    }

    private void repair() {
        int repaired = table.releaseOrphanedWaiting();
        if (repaired > 0) {
            log.warn("{} messages waited for rows that do not exist any more: were rows deleted by hand?", repaired);
            wakeRelay.run();
        }
    }

    private boolean succeeds(String task, Runnable run) {
        try {
            run.run();
            return true;
        } catch (Throwable e) { // only close() ends this thread
            if (closed.getCount() > 0) {
                log.warn("The outbox could not {}: {}", task, e.toString());
            }
            return false;
        }
    }

    /** An interrupt that a listener left behind shortens the pause and means nothing else. */
    private boolean isClosedWithin(long nanos) {
        try {
            return closed.await(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            return closed.getCount() == 0;
        }
    }
}
