package dev.hapax.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Operations that arrive on schedule, whether those before them have ended or not.
 *
 * <p>A caller that waits for its answer before it sends the next request sends fewer of them while the system is slow,
 * and so leaves out the waits of all those that would have come meanwhile (coordinated omission). Here the latency of
 * an operation counts from when it was due: if every thread is busy, or wakes up late, the delay is part of it.
 */
final class OpenLoop implements AutoCloseable {
    private static final long UNTIL_THREADS_ARE_READY = 30_000_000;

    private final int threads;
    private final Callers.Step step;
    private final ExecutorService executor;

    /** @param threads how many operations can be under way at a time */
    OpenLoop(int threads, Callers.Step step) {
        this.threads = threads;
        this.step = step;
        this.executor = Executors.newFixedThreadPool(threads, task -> {
            Thread thread = new Thread(task, "arrival");
            thread.setDaemon(true);
            return thread;
        });
    }

    /** Runs one turn, and returns when its last operation has ended or was dropped. */
    LatencyTurn run(ArrivalSchedule schedule) throws InterruptedException {
        Turn turn = new Turn(schedule, step);
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            all.add(executor.submit(turn));
        }
        for (Future<?> each : all) {
            try {
                each.get();
            } catch (ExecutionException e) {
                throw new IllegalStateException("an operation failed", e.getCause());
            }
        }
        return LatencyTurn.of(schedule, turn.ended);
    }

    /** What all threads share in a turn: each takes the next arrival and waits until it is due. */
    private static final class Turn implements Callable<Void> {
        private final ArrivalSchedule schedule;
        private final Callers.Step step;
        private final long began = System.nanoTime() + UNTIL_THREADS_ARE_READY;
        private final AtomicInteger next = new AtomicInteger();
        private final long[] ended;

        Turn(ArrivalSchedule schedule, Callers.Step step) {
            this.schedule = schedule;
            this.step = step;
            this.ended = new long[schedule.arrivals()];
            Arrays.fill(ended, LatencyTurn.NOT_COMPLETED);
        }

        @Override
        public Void call() throws Exception {
            int arrival = next.getAndIncrement();
            while (arrival < ended.length && !isHopeless()) {
                waitUntil(began + schedule.due(arrival));
                step.run();
                ended[arrival] = System.nanoTime() - began;
                arrival = next.getAndIncrement();
            }
            return null;
        }

        /** A backlog as long as the turn itself proves that the rate is not sustained: the rest is dropped. */
        private boolean isHopeless() {
            return System.nanoTime() - began > 2 * schedule.end();
        }

        private static void waitUntil(long due) {
            for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
        }
    }

    @Override
    public void close() {
        executor.shutdownNow();
    }
}
