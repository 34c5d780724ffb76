package dev.hapax;

import dev.hapax.store.OperationId;
import dev.hapax.store.Snapshot;
import dev.hapax.store.Store;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
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
    private final Background background;
    private final int most;
    private final AtomicInteger waiting = new AtomicInteger();
    private final Map<OperationId, Awaited> awaited = new ConcurrentHashMap<>();
    private final AtomicBoolean polling = new AtomicBoolean();
    private volatile Duration pause = SHORTEST_PAUSE;

    /** One awaited operation; a class, because two of them for the same operation are not the same. */
    private static final class Awaited {
        final CompletableFuture<Optional<Snapshot>> change = new CompletableFuture<>();
        final AtomicInteger waiters = new AtomicInteger();
    }

    Waiters(Store store, Background background, int most) {
        this.store = store;
        this.background = background;
        this.most = most;
    }

    /** Asks for a place; who gets one has to wait. */
    boolean mayWait() {
        if (waiting.incrementAndGet() > most) {
            waiting.decrementAndGet();
            return false;
        }
        return true;
    }

    /** Waits for a stage of this process; {@code otherwise} comes when it takes too long. */
    <T> CompletableFuture<T> waitFor(CompletableFuture<T> stage, long until, T otherwise) {
        long left = Math.max(0, until - System.nanoTime());
        return stage.copy()
                .completeOnTimeout(otherwise, left, TimeUnit.NANOSECONDS)
                .whenComplete((value, error) -> waiting.decrementAndGet());
    }

    /** What became of an operation once another process no longer runs it; empty if that takes too long. */
    CompletableFuture<Optional<Snapshot>> waitForChange(OperationId id, long until) {
        Awaited entry = awaited.compute(id, (key, present) -> {
            Awaited it = present == null ? new Awaited() : present;
            it.waiters.incrementAndGet();
            return it;
        });
        pause = SHORTEST_PAUSE;
        poll();
        return waitFor(entry.change, until, Optional.empty()).whenComplete((change, error) -> leave(id, entry));
    }

    private void leave(OperationId id, Awaited entry) {
        awaited.computeIfPresent(id, (key, present) -> {
            boolean last = present == entry && present.waiters.decrementAndGet() == 0;
            return last ? null : present;
        });
    }

    private void poll() {
        if (!awaited.isEmpty() && polling.compareAndSet(false, true)) {
            background.executeAfter(pause, this::ask);
        }
    }

    private void ask() {
        Set<OperationId> ids = Set.copyOf(awaited.keySet());
        Stages.call(() -> store.find(ids)).whenComplete((found, error) -> {
            if (error != null) {
                log.warn("Could not ask for {} awaited operations, will try again: {}", ids.size(), error.toString());
            }
            boolean changed = false;
            try {
                changed = error == null && tell(ids, found);
            } finally {
                pause = changed ? SHORTEST_PAUSE : longer(pause);
                polling.set(false);
                poll();
            }
        });
    }

    private boolean tell(Set<OperationId> ids, Map<OperationId, Snapshot> found) {
        Set<OperationId> changed = ids.stream()
                .filter(id -> found.get(id) == null || !found.get(id).running())
                .collect(Collectors.toSet());
        for (OperationId id : changed) {
            Awaited entry = awaited.remove(id);
            if (entry != null) {
                background.execute(() -> entry.change.complete(Optional.ofNullable(found.get(id))));
            }
        }
        return !changed.isEmpty();
    }

    private static Duration longer(Duration pause) {
        Duration half = pause.dividedBy(2);
        return pause.plus(half).compareTo(LONGEST_PAUSE) < 0 ? pause.plus(half) : LONGEST_PAUSE;
    }
}
