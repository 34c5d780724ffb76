package dev.hapax.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Threads that do the same thing, each as fast as it can, round after round. They live as long as the load they belong
 * to: a thread that is new is slower than one that has run before. They share nothing that each call would write to:
 * the fastest loads would measure that instead.
 */
final class Callers implements AutoCloseable {
    private static final long UNTIL_DONE = Duration.ofSeconds(60).toNanos();

    private final List<Thread> threads = new ArrayList<>();
    private final CyclicBarrier barrier;
    private final AtomicReference<Exception> failure = new AtomicReference<>();
    private final AtomicLong tickets = new AtomicLong();
    private final List<Tally> tallies = new ArrayList<>();
    private volatile boolean counting;
    private volatile Window window = new Window(0, 0);
    private volatile boolean closed;

    /** What a caller does, over and over. */
    interface Step {
        void run() throws Exception;
    }

    /** One step for each caller, for those that own something, such as a connection. */
    interface Steps {
        Step of(int caller) throws Exception;
    }

    /**
     * What a round came to.
     *
     * @param perSecond of those that ended in the time that counts
     * @param latencies of those that began in it, however late they ended: the slowest must not be left out
     */
    record Round(double perSecond, Histogram latencies) {}

    /** What one caller did in a round, or all of them together. */
    private static final class Tally {
        private final Histogram latencies = new Histogram();
        private long ended;

        void add(Window counted, long before, long after) {
            if (counted.counts(before)) {
                latencies.add(after - before);
            }
            if (counted.counts(after)) {
                ended++;
            }
        }

        void addAll(Tally other) {
            latencies.addAll(other.latencies);
            ended += other.ended;
        }

        void clear() {
            latencies.clear();
            ended = 0;
        }
    }

    Callers(int count, Steps steps) throws Exception {
        barrier = new CyclicBarrier(count + 1);
        for (int caller = 0; caller < count; caller++) {
            Step step = steps.of(caller);
            Tally tally = new Tally();
            tallies.add(tally);
            Thread thread = new Thread(() -> live(step, tally), "caller-" + caller);
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
    }

    /** All do the same. */
    static Callers all(int count, Step step) throws Exception {
        return new Callers(count, caller -> step);
    }

    /** What they do in so long a time, once they are all under way. */
    Round lasting(Duration time) throws Exception {
        counting = false;
        Window counted = Window.lasting(time);
        Tally all = round(counted);
        return new Round(counted.perSecond(all.ended), all.latencies);
    }

    /** Until so many are done, from the first one's beginning to the last one's end. */
    Round counting(long operations) throws Exception {
        counting = true;
        tickets.set(operations);
        long began = System.nanoTime();
        Tally all = round(new Window(began, began + UNTIL_DONE));
        return new Round(all.ended * 1e9 / (System.nanoTime() - began), all.latencies);
    }

    private Tally round(Window counted) throws Exception {
        window = counted;
        barrier.await();
        barrier.await();
        if (failure.get() != null) {
            throw new IllegalStateException("a caller failed", failure.get());
        }
        Tally all = new Tally();
        tallies.forEach(all::addAll);
        return all;
    }

    private void live(Step step, Tally tally) {
        try {
            while (true) {
                barrier.await();
                if (closed) {
                    return;
                }
                work(step, tally);
                barrier.await();
            }
        } catch (Exception interrupted) {
            failure.compareAndSet(null, interrupted);
        }
    }

    private void work(Step step, Tally tally) {
        tally.clear();
        Window counted = window;
        try {
            long before = System.nanoTime();
            while (!counted.isOver(before) && failure.get() == null && hasTicket()) {
                step.run();
                long after = System.nanoTime();
                tally.add(counted, before, after);
                before = after;
            }
        } catch (Exception e) {
            failure.compareAndSet(null, e);
        }
    }

    private boolean hasTicket() {
        return !counting || tickets.getAndDecrement() > 0;
    }

    @Override
    public void close() throws Exception {
        closed = true;
        barrier.await();
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
