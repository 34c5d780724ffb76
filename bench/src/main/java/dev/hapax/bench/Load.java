package dev.hapax.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Callers that do the same thing, each as fast as it can, until the time or the number is used up.
 *
 * @param most how many operations all of them together may do
 */
record Load(int callers, Duration time, long most) {
    private static final Duration LONGEST = Duration.ofSeconds(30);

    /** What a caller does, over and over. */
    interface Step {
        void run() throws Exception;
    }

    /** One step for each caller, for those that own something, such as a connection. */
    interface Steps {
        Step of(int caller) throws Exception;
    }

    static Load lasting(int callers, Duration time) {
        return new Load(callers, time, Long.MAX_VALUE);
    }

    static Load counting(int callers, long operations) {
        return new Load(callers, LONGEST, operations);
    }

    /** @return operations per second */
    double run(Step step) throws Exception {
        return runEach(caller -> step);
    }

    /**
     * Runs until the last caller is done, which the time includes. What one of them throws ends the load.
     *
     * @return operations per second
     */
    double runEach(Steps steps) throws Exception {
        Run run = new Run();
        List<Thread> threads = new ArrayList<>();
        for (int caller = 0; caller < callers; caller++) {
            Step step = steps.of(caller);
            Thread thread = new Thread(() -> run.call(step), "caller-" + caller);
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
        long began = run.begin(time);
        for (Thread thread : threads) {
            thread.join();
        }
        return run.perSecond(System.nanoTime() - began);
    }

    private final class Run {
        private final CountDownLatch start = new CountDownLatch(1);
        private final AtomicLong tickets = new AtomicLong(most);
        private final AtomicLong done = new AtomicLong();
        private final AtomicReference<Exception> failure = new AtomicReference<>();
        private volatile long until;

        long begin(Duration time) {
            long began = System.nanoTime();
            until = began + time.toNanos();
            start.countDown();
            return began;
        }

        void call(Step step) {
            try {
                start.await();
                long mine = 0;
                while (until - System.nanoTime() > 0 && failure.get() == null && tickets.getAndDecrement() > 0) {
                    step.run();
                    mine++;
                }
                done.addAndGet(mine);
            } catch (Exception e) {
                failure.compareAndSet(null, e);
            }
        }

        double perSecond(long nanos) throws Exception {
            if (failure.get() != null) {
                throw new IllegalStateException("a caller failed", failure.get());
            }
            return done.get() * 1e9 / nanos;
        }
    }
}
