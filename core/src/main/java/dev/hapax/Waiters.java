package dev.hapax;

import dev.hapax.store.OperationId;
import dev.hapax.store.Snapshot;
import dev.hapax.store.Store;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Waits for operations that another process runs. However many calls wait, one poller asks for all of their operations
 * in one statement: often while something is new, ever more rarely while nothing changes.
 */
final class Waiters {
    private static final Logger log = LoggerFactory.getLogger(Waiters.class);
    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(20);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(500);

    private final Store store;
    private final Scheduler scheduler;
    private final int most;
    private final AtomicInteger waiting = new AtomicInteger();
    private final Map<OperationId, WaitList<Optional<Snapshot>>> awaited = new ConcurrentHashMap<>();
    private final AtomicBoolean polling = new AtomicBoolean();
    private volatile Duration pause = SHORTEST_PAUSE;

    Waiters(Store store, Scheduler scheduler, int most) {
        this.store = store;
        this.scheduler = scheduler;
        this.most = most;
    }

    /** Asks for a place. A call that gets one has to wait. */
    boolean mayWait() {
        if (waiting.incrementAndGet() > most) {
            waiting.decrementAndGet();
            return false;
        }
        return true;
    }

    /** Waits for something that happens in this process; {@code otherwise} comes when it takes too long. */
    <T> CompletableFuture<T> waitFor(WaitList<T> list, long until, T otherwise) {
        CompletableFuture<T> waiter = list.join();
        return timed(waiter, until, () -> {
            list.leave(waiter);
            waiter.complete(otherwise);
        });
    }

    private <T> CompletableFuture<T> timed(CompletableFuture<T> waiter, long until, Runnable giveUp) {
        Scheduler.Timer timer = scheduleOrRun(Duration.ofNanos(Math.max(0, until - scheduler.nanoTime())), giveUp);
        return waiter.whenComplete((value, error) -> {
            timer.cancel();
            waiting.decrementAndGet();
        });
    }

    /** Once closed, or without a thread for the timer, nobody waits any more. */
    private Scheduler.Timer scheduleOrRun(Duration delay, Runnable task) {
        try {
            return scheduler.schedule(delay, task);
        } catch (RuntimeException | Error closed) {
            task.run();
            return () -> {};
        }
    }

    /** What became of an operation once another process no longer runs it; empty if that takes too long. */
    CompletableFuture<Optional<Snapshot>> waitForChange(OperationId id, long until) {
        CompletableFuture<Optional<Snapshot>>[] waiter = newWaiter();
        awaited.compute(id, (key, present) -> {
            WaitList<Optional<Snapshot>> list = present == null ? new WaitList<>() : present;
            waiter[0] = list.join();
            return list;
        });
        CompletableFuture<Optional<Snapshot>> change = timed(waiter[0], until, () -> {
            awaited.computeIfPresent(id, (key, list) -> list.leave(waiter[0]) ? null : list);
            waiter[0].complete(Optional.empty());
        });
        pause = SHORTEST_PAUSE;
        poll();
        return change;
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // filled with the one type it is declared with
    private static CompletableFuture<Optional<Snapshot>>[] newWaiter() {
        return new CompletableFuture[1];
    }

    private void poll() {
        if (!awaited.isEmpty() && polling.compareAndSet(false, true)) {
            try {
                scheduler.schedule(pause, this::ask);
            } catch (RuntimeException | Error closed) {
                polling.set(false); // the calls that wait have timers of their own
            }
        }
    }

    private void ask() {
        try {
            askForAll();
        } catch (RuntimeException | Error broken) {
            polling.set(false);
            throw broken;
        }
    }

    private void askForAll() {
        List<OperationId> ids = List.copyOf(awaited.keySet());
        Stages.call(() -> store.find(ids)).whenComplete((found, error) -> {
            if (error != null) {
                log.warn("Could not ask for {} awaited operations, will try again: {}", ids.size(), error.toString());
            }
            boolean changed = false;
            try {
                changed = error == null && notifyChanged(ids, found);
            } finally {
                pause = changed ? SHORTEST_PAUSE : longer(pause);
                polling.set(false);
                poll();
            }
        });
    }

    private boolean notifyChanged(List<OperationId> ids, Map<OperationId, Snapshot> found) {
        List<OperationId> changed = ids.stream()
                .filter(id -> found.get(id) == null || !found.get(id).running())
                .toList();
        for (OperationId id : changed) {
            WaitList<Optional<Snapshot>> list = awaited.remove(id);
            if (list != null) {
                scheduler.execute(() -> list.complete(Optional.ofNullable(found.get(id))));
            }
        }
        return !changed.isEmpty();
    }

    /** How many operations of other processes are waited for. */
    int awaitedOperations() {
        return awaited.size();
    }

    private static Duration longer(Duration pause) {
        Duration half = pause.dividedBy(2);
        return pause.plus(half).compareTo(LONGEST_PAUSE) < 0 ? pause.plus(half) : LONGEST_PAUSE;
    }
}
