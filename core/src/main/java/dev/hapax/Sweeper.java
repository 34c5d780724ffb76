package dev.hapax;

import dev.hapax.store.Durations;
import dev.hapax.store.Store;
import dev.hapax.store.Swept;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sweeps a store on a schedule of its own. Any number of them may run, in any number of processes.
 *
 * <p>A sweep that fails is logged and tried again at the next turn. A sweep goes on in rounds while there is more to
 * do.
 */
public final class Sweeper implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Sweeper.class);
    static final int ROUND = 5_000;

    private final Store store;
    private final Duration every;
    private final Listeners listeners;
    private final CountDownLatch closed = new CountDownLatch(1);

    Sweeper(Store store, Duration every, Listeners listeners) {
        Durations.requirePositive(every, "the pause between sweeps");
        this.store = store;
        this.every = every;
        this.listeners = listeners;
        Thread thread = new Thread(this::keepSweeping, "hapax-sweeper");
        thread.setDaemon(true);
        thread.start();
    }

    /** For a process that only sweeps; {@link Hapax} starts one by itself. */
    public static Sweeper start(Store store, Duration every, HapaxListener... listeners) {
        return new Sweeper(store, every, new Listeners(List.of(listeners)));
    }

    /** Ends after the round that may be under way. */
    @Override
    public void close() {
        closed.countDown();
    }

    private void keepSweeping() {
        while (!closedWithin(jittered(every))) {
            try {
                sweep();
            } catch (RuntimeException | Error e) {
                log.warn("Sweeping failed, will try again in about {}: {}", every, e.toString());
            }
        }
    }

    private void sweep() {
        Swept swept = Swept.NOTHING;
        Swept round;
        do {
            round = Stages.join(Stages.call(() -> store.sweep(ROUND)));
            swept = swept.plus(round);
        } while (round.total() >= ROUND && !closedWithin(Duration.ZERO));
        if (swept.total() > 0) {
            report(swept);
        }
    }

    private void report(Swept swept) {
        if (!swept.reclaimed().isEmpty()) {
            log.warn(
                    "Reclaimed {} leases of crashed or stalled workers: {} may run again, {} failed, {} parked",
                    swept.reclaimed().size(),
                    swept.reopened(),
                    swept.failed(),
                    swept.parked());
        }
        log.debug("Swept: {}", swept);
        listeners.tell(listener -> listener.swept(swept));
    }

    private boolean closedWithin(Duration pause) {
        try {
            return closed.await(pause.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            return true;
        }
    }

    private static Duration jittered(Duration pause) {
        double factor = ThreadLocalRandom.current().nextDouble(0.8, 1.2);
        return Duration.ofNanos((long) (pause.toNanos() * factor));
    }
}
