package dev.hapax;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** Time that passes when the test says so. Timers run on the test's thread, other tasks on the thread at hand. */
final class ManualScheduler implements Scheduler {
    private final PriorityQueue<Scheduled> timers =
            new PriorityQueue<>(Comparator.comparingLong(Scheduled::at).thenComparingLong(Scheduled::number));
    private long now;
    private long numbers;
    private @Nullable Error refusal;

    private record Scheduled(long at, long number, Runnable task) {}

    /** Lets time pass, and runs what becomes due on the way. */
    void advance(Duration by) {
        long end = nanoTime() + by.toNanos();
        for (Scheduled next = due(end); next != null; next = due(end)) {
            next.task().run();
        }
        synchronized (this) {
            now = Math.max(now, end);
        }
    }

    private synchronized @Nullable Scheduled due(long end) {
        Scheduled next = timers.peek();
        if (next == null || next.at() > end) {
            return null;
        }
        now = Math.max(now, next.at());
        return timers.poll();
    }

    /** Until {@link #recover}, timers are refused as if no thread could be had for them. */
    synchronized void refuse(Error error) {
        refusal = error;
    }

    synchronized void recover() {
        refusal = null;
    }

    synchronized int timers() {
        return timers.size();
    }

    @Override
    public synchronized long nanoTime() {
        return now;
    }

    @Override
    public Instant instant() {
        return Instant.EPOCH.plusNanos(nanoTime());
    }

    @Override
    public void execute(Runnable task) {
        task.run();
    }

    @Override
    public synchronized Timer schedule(Duration delay, Runnable task) {
        if (refusal != null) {
            throw refusal;
        }
        Scheduled scheduled = new Scheduled(now + Math.max(0, delay.toNanos()), numbers++, task);
        timers.add(scheduled);
        return () -> cancel(scheduled);
    }

    private synchronized void cancel(Scheduled scheduled) {
        timers.remove(scheduled);
    }

    @Override
    public void close() {}
}
