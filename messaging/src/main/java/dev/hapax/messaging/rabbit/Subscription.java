package dev.hapax.messaging.rabbit;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A channel that a queue is consumed on, from its beginning to its end. Safe for use by many threads.
 *
 * <p>A delivery is acknowledged on the channel that delivered it or not at all: tags count anew on every channel, and
 * an old one would acknowledge another message. So nothing is ever recovered here. When the connection breaks, the
 * broker closes the channel, or cancels the consumer because the queue went away or moved, the subscription has ended;
 * the broker gives what was not acknowledged to the next one.
 */
final class Subscription {
    private static final Logger log = LoggerFactory.getLogger(Subscription.class);

    private static final int CLOSE_TIMEOUT_MILLIS = 2_000;

    private final Events events;
    private final Connection connection;
    private final Channel channel;
    private volatile String consumerTag = "";
    private final AtomicReference<@Nullable String> ended = new AtomicReference<>();

    /** Listens to a subscription. Called on the client's threads; must not block. */
    interface Events {
        void delivered(UnackedDelivery delivery);

        void ended(Subscription subscription);
    }

    private Subscription(Connection connection, Events events) throws IOException {
        this.events = events;
        this.connection = connection;
        this.channel = Objects.requireNonNull(connection.createChannel(), "the connection has no more channels");
    }

    /** Begins to consume. What has begun is undone if it fails. */
    static Subscription begin(RabbitConnections connections, String queue, int prefetch, Events events)
            throws IOException, TimeoutException {
        Connection connection = connections.open();
        boolean begun = false;
        try {
            Subscription subscription = new Subscription(connection, events);
            subscription.consume(queue, prefetch);
            begun = true;
            return subscription;
        } finally {
            if (!begun) {
                connection.abort(CLOSE_TIMEOUT_MILLIS);
            }
        }
    }

    private void consume(String queue, int prefetch) throws IOException {
        channel.addShutdownListener(cause -> end(cause.getMessage()));
        channel.basicQos(prefetch);
        consumerTag = channel.basicConsume(queue, false, new DefaultConsumer(channel) {
            @Override
            public void handleDelivery(String consumerTag, Envelope envelope, BasicProperties properties, byte[] body) {
                events.delivered(new UnackedDelivery(
                        Subscription.this, envelope.getDeliveryTag(), RabbitMessage.of(envelope, properties, body)));
            }

            @Override
            public void handleCancel(String consumerTag) {
                end("the broker cancelled the consumer: is the queue gone?");
            }
        });
    }

    private void end(@Nullable String why) {
        if (ended.compareAndSet(null, String.valueOf(why))) {
            events.ended(this);
        }
    }

    /** Why it has ended; {@code null} while it has not. */
    @Nullable
    String ended() {
        return ended.get();
    }

    void acknowledge(long tag) {
        perform(() -> channel.basicAck(tag, false));
    }

    /** To the dead-letter exchange of the queue, if it has one. */
    void reject(long tag) {
        perform(() -> channel.basicReject(tag, false));
    }

    /**
     * To the queue it came from, which delivers it again at once. Not by {@code basic.reject}: a quorum queue takes
     * that for a failure and counts it against the delivery limit; {@code basic.nack} it does not, from RabbitMQ 4.3
     * on.
     */
    void requeue(long tag) {
        perform(() -> channel.basicNack(tag, false, true));
    }

    /** No more deliveries; those that were made can still be acknowledged. */
    void cancel() {
        perform(() -> channel.basicCancel(consumerTag));
    }

    /** Closes the connection: the broker requeues what was not acknowledged. */
    void close() {
        ended.compareAndSet(null, "closed");
        connection.abort(CLOSE_TIMEOUT_MILLIS);
    }

    private interface ChannelAction {
        void run() throws IOException;
    }

    /** If the broker cannot be reached, it delivers the message again, and the consumer answers it as a repeat. */
    private void perform(ChannelAction action) {
        if (ended.get() != null) {
            return;
        }
        try {
            action.run();
        } catch (IOException | ShutdownSignalException gone) {
            log.debug("The broker could not be reached: {}", gone.toString());
        }
    }
}
