package dev.hapax.testkit.simulation;

import dev.hapax.Scheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * A process: its clock, and whatever it does, one thing after the other. While it is frozen nothing of it happens; what
 * was due happens when it goes on. Once it is killed nothing happens any more.
 */
final class SimulatedInstance implements Scheduler {
    private static final Duration HOP = Duration.ofMillis(2);

    private final String name;
    private final VirtualTime time;
    private final Chance chance;
    private final Consumer<Throwable> uncaught;
    private final double rate;
    private final long offset;
    private long frozenUntil;
    private boolean killed;
    private boolean started;

    SimulatedInstance(String name, VirtualTime time, Chance chance, Consumer<Throwable> uncaught) {
        this.name = name;
        this.time = time;
        this.chance = chance;
        this.uncaught = uncaught;
        this.rate = chance.strikes(FaultKind.CLOCK_DRIFT) ? chance.between(0.99, 1.01) : 1;
        this.offset = chance.nanosUpTo(Duration.ofDays(1));
    }

    String name() {
        return name;
    }

    boolean isKilled() {
        return killed;
    }

    void freeze(Duration duration) {
        frozenUntil = Math.max(frozenUntil, time.now() + duration.toNanos());
    }

    /** From here on timers may fail: an instance that cannot be built is never one. */
    void started() {
        started = true;
    }

    void kill() {
        killed = true;
    }

    @Override
    public long nanoTime() {
        return offset + (long) (time.now() * rate);
    }

    @Override
    public Instant instant() {
        return time.instant();
    }

    /** Something that happens in this instance, a little later. */
    void later(long nanos, Runnable action) {
        time.at(time.now() + nanos, () -> happen(action));
    }

    private void happen(Runnable action) {
        if (killed) {
            return;
        }
        if (time.now() < frozenUntil) {
            time.at(frozenUntil, () -> happen(action));
            return;
        }
        try {
            action.run();
        } catch (InjectedError survived) {
            return; // the thread that it struck has ended; the instance goes on
        } catch (Throwable thrown) {
            uncaught.accept(thrown);
        }
    }

    @Override
    public void execute(Runnable task) {
        later(chance.nanosUpTo(HOP), task);
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
        if (started && chance.strikes(FaultKind.TIMER_REFUSED)) {
            throw new InjectedError("no thread for a timer");
        }
        boolean[] cancelled = {false};
        later((long) (Math.max(0, delay.toNanos()) / rate) + chance.nanosUpTo(HOP), () -> {
            if (!cancelled[0]) {
                task.run();
            }
        });
        return () -> cancelled[0] = true;
    }

    /** Where handlers run: usually soon, now and then so late that their lease is over, now and then not at all. */
    Executor handlers(Duration longestDelay) {
        return task -> {
            if (chance.strikes(FaultKind.EXECUTOR_REFUSED)) {
                if (chance.oneIn(2)) {
                    throw new InjectedError("no thread for a handler");
                }
                throw new RejectedExecutionException("the executor is full");
            }
            boolean late = chance.strikes(FaultKind.EXECUTOR_LATE);
            later(chance.nanosUpTo(late ? longestDelay : HOP), task);
            if (chance.strikes(FaultKind.EXECUTOR_CONFUSED)) {
                later(chance.nanosUpTo(HOP), task);
                throw new InjectedError("an executor that had queued the task, twice");
            }
        };
    }

    @Override
    public void close() {}
}
