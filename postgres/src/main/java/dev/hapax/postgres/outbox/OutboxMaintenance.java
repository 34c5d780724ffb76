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
 * if rows are deleted by hand. One statement at a time; a failure is logged and the next interval tries again.
 */
final class OutboxMaintenance implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(OutboxMaintenance.class);
    private static final Duration REPAIR_EVERY = Duration.ofHours(1);

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
        Duration pause = events.hasListeners() ? lagEvery : REPAIR_EVERY;
        do {
            if (System.nanoTime() - repairAt >= 0) {
                repairAt = System.nanoTime() + RelayLoop.jittered(REPAIR_EVERY);
                logFailure("look for messages that wait for nothing", this::repair);
            }
            if (events.hasListeners()) {
                logFailure("count the lag", () -> events.lag(lag.get()));
            }
        } while (!isClosedWithin(RelayLoop.jittered(pause)));
    }

    private void repair() {
        int repaired = table.releaseOrphanedWaiting();
        if (repaired > 0) {
            log.warn("{} messages waited for rows that do not exist any more: were rows deleted by hand?", repaired);
            wakeRelay.run();
        }
    }

    private void logFailure(String task, Runnable run) {
        try {
            run.run();
        } catch (RuntimeException | Error e) {
            if (closed.getCount() > 0) {
                log.warn("The outbox could not {}: {}", task, e.toString());
            }
        }
    }

    private boolean isClosedWithin(long nanos) {
        try {
            return closed.await(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }
}
