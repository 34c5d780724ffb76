package dev.hapax.messaging.rabbit;

import com.rabbitmq.client.ConnectionFactory;
import dev.hapax.messaging.IdempotentConsumer;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Consumes a queue and has every message handled once; acknowledges a message only when its end is stored.
 *
 * <pre>{@code
 * IdempotentConsumer<RabbitMessage> mailer = RabbitMessages.consumer("orders.mailer", hapax)
 *     .key(RabbitMessages.messageId())
 *     .handling((message, lease) -> mails.send(message.body(), lease.downstreamKey("mail")));
 *
 * RabbitConsumerLoop loop = RabbitConsumerLoop.of(connectionFactory, mailer)
 *     .queue("orders")
 *     .deadLetters(DeadLetters.toQueue("orders.dead"))
 *     .start();
 * }</pre>
 *
 * <p>A message that has to come back is held: it stays unacknowledged, within the prefetch, and is tried again in this
 * process when its time has come. Nothing is requeued in circles, and a process that dies gives everything back. While
 * messages are held there is room for fewer others; where many may have to wait at a time, {@link Builder#delayQueue}
 * lets the broker hold them. With a prefetch of 1 messages are handled in order, and a message that has to come back
 * holds up the queue; with more there is no order.
 *
 * <p>While the broker or the store cannot be reached it waits, with pauses, and goes on by itself: after a broken
 * connection, a channel that the broker closed, a consumer that the broker cancelled. What was delivered before comes
 * again, and is not handled again.
 */
public final class RabbitConsumerLoop implements AutoCloseable {
    private final DeliveryLoop loop;
    private final Thread thread;

    private RabbitConsumerLoop(Builder builder) {
        loop = new DeliveryLoop(builder);
        thread = new Thread(loop, "hapax-rabbit-" + builder.consumer.name());
        thread.setDaemon(true);
        thread.start();
    }

    /** Begins with where the broker is. The factory's own recovery is not used. */
    public static Builder of(ConnectionFactory factory, IdempotentConsumer<RabbitMessage> consumer) {
        return over(RabbitConnections.of(factory), consumer);
    }

    /** Begins with a way to open connections, such as {@code () -> factory.newConnection(addresses)}. */
    public static Builder over(RabbitConnections connections, IdempotentConsumer<RabbitMessage> consumer) {
        return new Builder(connections, consumer);
    }

    /** Whether the queue is being consumed now: for health checks. */
    public boolean isConsuming() {
        return loop.isConsuming();
    }

    /**
     * Stops: what has not begun goes back to the queue, what runs is waited for, what is done is acknowledged. Closing
     * twice does nothing.
     */
    @Override
    public void close() {
        loop.stop();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Collects the settings of a {@link RabbitConsumerLoop}. Not safe for use by many threads. */
    public static final class Builder {
        private static final int MOST_PREFETCH = 65_535;

        final RabbitConnections connections;
        final IdempotentConsumer<RabbitMessage> consumer;
        String queue = "";
        int prefetch = 64;
        int threads = 16;
        Duration handOver = Duration.ofSeconds(10);
        Duration longestHold = Duration.ofMinutes(15);

        @Nullable
        String delayQueue;

        @Nullable
        Executor executor;

        @Nullable
        DeadLetters deadLetters;

        private Builder(RabbitConnections connections, IdempotentConsumer<RabbitMessage> consumer) {
            this.connections = Objects.requireNonNull(connections, "connections");
            this.consumer = Objects.requireNonNull(consumer, "consumer");
        }

        /** Consumes this queue, which is declared by others. Must be set. */
        public Builder queue(String queue) {
            this.queue = queue;
            return this;
        }

        /** Where rejected messages go. Must be set. */
        public Builder deadLetters(DeadLetters deadLetters) {
            this.deadLetters = deadLetters;
            return this;
        }

        /**
         * How many messages may be delivered and not acknowledged: those that are handled, those that wait for a
         * thread, and those that are held. 64 unless set.
         */
        public Builder prefetch(int messages) {
            if (messages > MOST_PREFETCH) {
                throw new IllegalArgumentException(
                        "prefetch is %d; at most %d are possible".formatted(messages, MOST_PREFETCH));
            }
            this.prefetch = atLeastOne(messages, "prefetch");
            return this;
        }

        /** How many handlers may run at a time. 16 unless set. */
        public Builder threads(int threads) {
            this.threads = atLeastOne(threads, "threads");
            return this;
        }

        /** Where handlers run, instead of threads of the loop's own. */
        public Builder executor(Executor executor) {
            this.executor = executor;
            return this;
        }

        /** How long handlers that run are waited for when the loop is closed. 10 seconds unless set. */
        public Builder handOver(Duration longest) {
            if (longest.isNegative()) {
                throw new IllegalArgumentException("handOver is " + longest + "; it cannot be negative");
            }
            this.handOver = longest;
            return this;
        }

        /**
         * How long a message is held before it goes back to the queue, to be delivered again at once. 15 minutes unless
         * set; must be shorter than the broker waits for an acknowledgement, which is half an hour unless set there.
         */
        public Builder longestHold(Duration longest) {
            if (longest.compareTo(Duration.ofMillis(100)) < 0) {
                throw new IllegalArgumentException("longestHold is " + longest + "; at least 100 ms are needed");
            }
            this.longestHold = longest;
            return this;
        }

        /**
         * Lets the broker hold messages that have to wait for longer than {@code heldAtMost}: they are published to
         * this queue with their delay as expiration, and acknowledged once that is confirmed.
         *
         * @param queue declared by others, with the consumed queue as its dead letter target:
         *     {@code x-dead-letter-exchange} empty, {@code x-dead-letter-routing-key} the consumed queue. RabbitMQ lets
         *     messages expire at the head of a queue only, so a short delay may wait behind a long one
         */
        public Builder delayQueue(String queue, Duration heldAtMost) {
            this.delayQueue = Objects.requireNonNull(queue, "queue");
            return longestHold(heldAtMost);
        }

        /** @throws IllegalStateException when it was not said which queue is consumed, or where dead letters go */
        public RabbitConsumerLoop start() {
            if (queue.isEmpty()) {
                throw new IllegalStateException("say which queue is consumed: queue(\"orders\")");
            }
            if (deadLetters == null) {
                throw new IllegalStateException(
                        "say where rejected messages go: deadLetters(DeadLetters.toQueue(\"orders.dead\")),"
                                + " or DeadLetters.byBroker()");
            }
            return new RabbitConsumerLoop(this);
        }

        private static int atLeastOne(int value, String name) {
            if (value < 1) {
                throw new IllegalArgumentException(name + " is " + value + "; at least 1 is needed");
            }
            return value;
        }
    }
}
