package dev.hapax.messaging.internal;

import java.time.Duration;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The settings that the consumer loops of all brokers have.
 *
 * @param threads how many handlers may run at a time; without meaning if there is an executor
 * @param executor where handlers run; {@code null} for threads of the loop's own
 * @param handOver how long a loop that is closed waits for handlers that run
 */
public record LoopSettings(int threads, @Nullable Executor executor, Duration handOver) {
    private static final int DEFAULT_THREADS = 16;
    private static final Duration DEFAULT_HAND_OVER = Duration.ofSeconds(10);

    public LoopSettings {
        atLeastOne(threads, "threads");
        notNegative(handOver, "handOver");
    }

    public static LoopSettings defaults() {
        return new LoopSettings(DEFAULT_THREADS, null, DEFAULT_HAND_OVER);
    }

    public LoopSettings withThreads(int count) {
        return new LoopSettings(count, executor, handOver);
    }

    public LoopSettings withExecutor(Executor handlers) {
        return new LoopSettings(threads, handlers, handOver);
    }

    public LoopSettings withHandOver(Duration longest) {
        return new LoopSettings(threads, executor, longest);
    }

    /** @throws IllegalArgumentException naming the setting, if its value is below 1 */
    public static int atLeastOne(int value, String name) {
        if (value < 1) {
            throw new IllegalArgumentException(name + " is " + value + "; at least 1 is needed");
        }
        return value;
    }

    /** @throws IllegalArgumentException naming the setting, if its value is below zero */
    public static Duration notNegative(Duration value, String name) {
        if (value.isNegative()) {
            throw new IllegalArgumentException(name + " is " + value + "; it cannot be negative");
        }
        return value;
    }
}
