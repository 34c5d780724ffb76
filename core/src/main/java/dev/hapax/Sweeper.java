package dev.hapax;

import dev.hapax.store.Durations;
import dev.hapax.store.Store;
import dev.hapax.store.Swept;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sweeps a store on a schedule of its own. Any number of them may run, in any number of processes.
 *
 * <p>A sweep that fails is logged and tried again at the next turn. A sweep goes on in batches while there is more to
 * do.
 */
public final class Sweeper implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Sweeper.class);
    static final int MAX_BATCH_SIZE = 5_000;

    private final Store store;
    private final Duration every;
    private final Listeners listeners;
    private final Scheduler scheduler;
    private final Runnable whenClosed;
    private final SplittableRandom jitter;
    private volatile boolean closed;

    /** @param owner the process that sweeps: two processes do not sweep in step */
    Sweeper(Store store, Duration every, Listeners listeners, Scheduler scheduler, String owner) {
        this(store, every, listeners, scheduler, owner, () -> {});
    }

    private Sweeper(
            Store store, Duration every, Listeners listeners, Scheduler scheduler, String owner, Runnable whenClosed) {
        this.store = store;
        this.every = Durations.requirePositive(every, "the pause between sweeps");
        this.listeners = listeners;
        this.scheduler = scheduler;
        this.whenClosed = whenClosed;
        this.jitter = new SplittableRandom(owner.hashCode());
        scheduleNext();
    }

    /** For a process that only sweeps; {@link Hapax} starts one by itself. */
    public static Sweeper start(Store store, Duration every, HapaxListener... listeners) {
        Durations.requirePositive(every, "the pause between sweeps");
        String owner = String.valueOf(ProcessHandle.current().pid());
        ThreadScheduler scheduler = new ThreadScheduler();
        return new Sweeper(store, every, new Listeners(List.of(listeners)), scheduler, owner, scheduler::close);
    }

    /** Ends after the batch that may be under way. */
    @Override
    public void close() {
        closed = true;
        whenClosed.run();
    }

    private void scheduleNext() {
        if (closed) {
            return;
        }
        try {
            scheduler.schedule(jittered(), this::sweep);
        } catch (RejectedExecutionException e) {
            closed = true;
        }
    }

    private void sweep() {
        if (closed) {
            return;
        }
        sweepFurther(Swept.NOTHING).whenComplete((swept, error) -> {
            if (error != null) {
                log.warn("Sweeping failed, will try again in about {}: {}", every, error.toString());
            } else if (swept.total() > 0) {
                log.debug("Swept: {}", swept);
                listeners.tell(listener -> listener.swept(swept));
            }
            scheduleNextOrStop();
        });
    }

    private void scheduleNextOrStop() {
        try {
            scheduleNext();
        } catch (RuntimeException | Error noThread) {
            log.error("No more sweeps in this process; claims act on what has passed by themselves", noThread);
        }
    }

    private CompletableFuture<Swept> sweepFurther(Swept before) {
        return Stages.call(() -> store.sweep(MAX_BATCH_SIZE)).thenCompose(batch -> {
            batch.reclaimed().forEach(reclaimed -> ExpiredLeases.report(reclaimed.lease(), listeners));
            Swept swept = before.plus(batch);
            return batch.total() >= MAX_BATCH_SIZE && !closed
                    ? CompletableFuture.supplyAsync(() -> sweepFurther(swept), scheduler)
                            .thenCompose(it -> it)
                    : CompletableFuture.completedFuture(swept);
        });
    }

    private Duration jittered() {
        return Duration.ofNanos((long) (every.toNanos() * jitter.nextDouble(0.8, 1.2)));
    }
}
