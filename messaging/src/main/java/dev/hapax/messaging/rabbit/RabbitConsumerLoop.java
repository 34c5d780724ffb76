package dev.hapax.messaging.rabbit;

import com.rabbitmq.client.ConnectionFactory;
import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.messaging.internal.LoopSettings;
import dev.hapax.messaging.internal.LoopThread;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
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
 * <p>A message that has to be retried is held: it stays unacknowledged, within the prefetch, and is tried again in this
 * process when its time has come. Nothing is requeued in circles, and the broker requeues everything of a process that
 * dies. While messages are held there is room for fewer others; where many may have to wait at a time,
 * {@link Builder#delayQueue} lets the broker hold them. With a prefetch of 1 messages are handled in order, and a
 * message that is held blocks the queue; with more there is no order.
 *
 * <p>While the broker or the store cannot be reached the loop waits, with pauses, and goes on by itself: after a broken
 * connection, a channel that the broker closed, a consumer that the broker cancelled. The broker delivers the messages
 * again that it had delivered before, and they are not handled again.
 */
public final class RabbitConsumerLoop implements AutoCloseable {
    private final DeliveryLoop loop;
    private final LoopThread thread;

    private RabbitConsumerLoop(Builder builder) {
        String name = "hapax-rabbit-" + builder.consumer.name();
        loop = new DeliveryLoop(builder, name);
        thread = LoopThread.start(name, loop);
    }

    /** Begins with where the broker is. The factory's own recovery is not used. */
    public static Builder of(ConnectionFactory factory, IdempotentConsumer<RabbitMessage> consumer) {
        return over(RabbitConnections.of(factory), consumer);
    }

    /** Begins with a way to open connections, such as {@code () -> factory.newConnection(addresses)}. */
    public static Builder over(RabbitConnections connections, IdempotentConsumer<RabbitMessage> consumer) {
        return new Builder(connections, consumer);
    }

    /** Whether the loop runs and is subscribed to the queue: for health checks. */
    public boolean isConsuming() {
        return thread.isRunning() && loop.isConsuming();
    }

    /** Completes when the loop was closed, and fails with what stopped it if it was not. */
    public CompletionStage<Void> stopped() {
        return thread.stopped();
    }

    /**
     * Stops: messages that have not begun go back to the queue, handlers that run are waited for, connected or not, and
     * messages whose end is stored are acknowledged. Closing twice does nothing.
     */
    @Override
    public void close() {
        thread.close();
    }

    /** Collects the settings of a {@link RabbitConsumerLoop}. Not safe for use by many threads. */
    public static final class Builder {
        private static final int MAX_PREFETCH = 65_535;

        final RabbitConnections connections;
        final IdempotentConsumer<RabbitMessage> consumer;
        LoopSettings loop = LoopSettings.defaults();
        String queue = "";
        int prefetch = 64;
        Duration longestHold = Duration.ofMinutes(15);

        @Nullable
        String delayQueue;

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
         * How many messages may be delivered and not acknowledged: those that are handled, wait for a thread, or are
         * held. Default: 64.
         */
        public Builder prefetch(int messages) {
            if (messages > MAX_PREFETCH) {
                throw new IllegalArgumentException(
                        "prefetch is %d; at most %d are possible".formatted(messages, MAX_PREFETCH));
            }
            this.prefetch = LoopSettings.atLeastOne(messages, "prefetch");
            return this;
        }

        /** How many handlers may run at a time. Default: 16. */
        public Builder threads(int threads) {
            this.loop = loop.withThreads(threads);
            return this;
        }

        /** Where handlers run. Default: threads of the loop's own. */
        public Builder executor(Executor executor) {
            this.loop = loop.withExecutor(executor);
            return this;
        }

        /** How long closing waits, at most, for handlers that run. Default: 10 s. */
        public Builder handOver(Duration longest) {
            this.loop = loop.withHandOver(longest);
            return this;
        }

        /**
         * How long a message is held before it goes back to the queue, to be delivered again at once. Must be shorter
         * than the broker waits for an acknowledgement ({@code consumer_timeout}, 30 min by default). Default: 15 min.
         *
         * <p>A quorum queue before RabbitMQ 4.3 counts every requeue against its delivery limit, 20 by default from
         * RabbitMQ 4.0 on, and dead-letters or drops the message after that: with 15 minutes, when the store was away
         * for five hours. Use {@link #delayQueue} there, or raise {@code x-delivery-limit}.
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
         * this queue with their delay as expiration, and acknowledged once that is confirmed. A message that the broker
         * does not take is held here and published again every 2 seconds, with the delay that is left.
         *
         * @param queue declared by others, with the consumed queue as its dead letter target:
         *     {@code x-dead-letter-exchange} empty, {@code x-dead-letter-routing-key} the consumed queue. RabbitMQ lets
         *     messages expire at the head of a queue only, so a short delay may wait behind a long one
         */
        public Builder delayQueue(String queue, Duration heldAtMost) {
            this.delayQueue = Objects.requireNonNull(queue, "queue");
            return longestHold(heldAtMost);
        }

        /** @throws IllegalStateException when the queue or the dead letters are not set */
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
    }
}
