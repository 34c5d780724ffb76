package dev.hapax.messaging.kafka;

import java.time.Duration;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.Metric;
import org.jspecify.annotations.Nullable;

/**
 * Whether Kafka answers. {@code poll} does not fail while brokers are away, so this watches the consumer's own count of
 * answers: heartbeats of the group's coordinator, or any answer where partitions are assigned by hand. Written by the
 * loop's thread, read by any.
 */
final class BrokerLiveness {
    private final @Nullable Metric answers;
    private final long timeout;
    private final LongSupplier clock;
    private double counted;
    private volatile long answeredAt;
    private volatile boolean answering;

    /** @param clock in nanoseconds */
    BrokerLiveness(Consumer<byte[], byte[]> kafka, boolean inGroup, Duration timeout, LongSupplier clock) {
        this.answers = inGroup
                ? metric(kafka, "consumer-coordinator-metrics", "heartbeat-total")
                : metric(kafka, "consumer-metrics", "response-total");
        this.timeout = timeout.toNanos();
        this.clock = clock;
    }

    private static @Nullable Metric metric(Consumer<byte[], byte[]> kafka, String group, String name) {
        for (Metric metric : kafka.metrics().values()) {
            if (metric.metricName().group().equals(group)
                    && metric.metricName().name().equals(name)
                    && !metric.metricName().tags().containsKey("node-id")) {
                return metric;
            }
        }
        return null;
    }

    /** A poll returned. A consumer without metrics is taken at its word. */
    void polled() {
        if (answers == null) {
            answered();
        } else if (answers.metricValue() instanceof Double count && count > counted) {
            counted = count;
            answered();
        }
    }

    void answered() {
        answeredAt = clock.getAsLong();
        answering = true;
    }

    void failed() {
        answering = false;
    }

    boolean isAnswering() {
        return answering && clock.getAsLong() - answeredAt <= timeout;
    }
}
