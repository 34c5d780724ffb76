package dev.hapax.messaging.rabbit;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.Return;
import dev.hapax.messaging.internal.DaemonThreads;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes, and says when the broker has confirmed it. Safe for use by many threads; never blocks the caller.
 *
 * <p>It has a connection of its own, opened when it is first needed: a broker that is short of memory stops reading
 * from connections that publish, and acknowledgements must not be stuck behind that.
 *
 * <p>Messages are mandatory: a broker confirms what no queue took as well, and only returns it first.
 */
final class ConfirmedSender implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ConfirmedSender.class);
    private static final int CLOSE_TIMEOUT_MILLIS = 2_000;

    private final RabbitConnections connections;
    private final Duration confirmTimeout;
    private final ThreadPoolExecutor thread;
    private @Nullable ConfirmChannel current;
    private long failedAt;
    private @Nullable Exception failure;

    /** @param confirmTimeout how long a confirm may take */
    ConfirmedSender(RabbitConnections connections, Duration confirmTimeout) {
        this.connections = connections;
        this.confirmTimeout = confirmTimeout;
        this.thread = DaemonThreads.pool(1, "hapax-rabbit-sender");
    }

    /** What is sent, and to whom. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Letter(String exchange, String routingKey, BasicProperties properties, byte[] body) {}

    /** Completes once a queue has the message for good; fails if none took it, or that is unknown. */
    CompletableFuture<Void> send(Letter letter) {
        CompletableFuture<Void> confirmed = new CompletableFuture<>();
        long sentAt = System.nanoTime();
        try {
            thread.execute(() -> send(letter, sentAt, confirmed));
        } catch (RejectedExecutionException closed) {
            confirmed.completeExceptionally(new IOException("closed"));
        }
        return confirmed.orTimeout(confirmTimeout.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void send(Letter letter, long sentAt, CompletableFuture<Void> confirmed) {
        if (confirmed.isDone()) {
            return;
        }
        try {
            publish(open(sentAt), new Pending(letter, confirmed));
        } catch (Exception broken) { // the client's own unchecked exceptions included: see its AlreadyClosedException
            confirmed.completeExceptionally(broken);
        }
    }

    /**
     * A connection that fails to send is not trusted again, although its channel may not know yet that it is closed.
     */
    private void publish(ConfirmChannel now, Pending message) throws IOException {
        boolean sent = false;
        try {
            now.publish(message);
            sent = true;
        } finally {
            if (!sent) {
                disconnect();
            }
        }
    }

    private ConfirmChannel open(long sentAt) throws Exception {
        ConfirmChannel now = current;
        if (now != null && now.channel.isOpen()) {
            return now;
        }
        if (failure != null && sentAt - failedAt < 0) { // it waited while another one found out
            throw failure;
        }
        disconnect();
        try {
            ConfirmChannel opened = new ConfirmChannel(connections.open());
            current = opened;
            failure = null;
            return opened;
        } catch (Exception broken) {
            failure = broken;
            failedAt = System.nanoTime();
            throw broken;
        }
    }

    private void disconnect() {
        if (current != null) {
            current.connection.abort(CLOSE_TIMEOUT_MILLIS);
            current = null;
        }
    }

    /** What is not confirmed by now fails. Closing twice does nothing. */
    @Override
    public void close() {
        try {
            thread.execute(this::disconnect);
        } catch (RejectedExecutionException closed) {
            return;
        }
        thread.shutdown();
    }

    private static final class Pending {
        final Letter letter;
        final CompletableFuture<Void> confirmed;
        volatile boolean returned;

        Pending(Letter letter, CompletableFuture<Void> confirmed) {
            this.letter = letter;
            this.confirmed = confirmed;
        }

        boolean is(Return message) {
            return !returned
                    && letter.exchange().equals(message.getExchange())
                    && letter.routingKey().equals(message.getRoutingKey())
                    && Objects.equals(
                            letter.properties().getMessageId(),
                            message.getProperties().getMessageId())
                    && Arrays.equals(letter.body(), message.getBody());
        }

        /** @param kept what the broker says; some say yes to what no queue took, some no */
        void settle(boolean kept) {
            if (returned) {
                confirmed.completeExceptionally(new IOException("no queue is bound to exchange \"%s\" by \"%s\""
                        .formatted(letter.exchange(), letter.routingKey())));
            } else if (kept) {
                confirmed.complete(null);
            } else {
                confirmed.completeExceptionally(new IOException("the broker refused the message"));
            }
        }
    }

    /** A connection with a channel in confirm mode, and what is under way on it. */
    private static final class ConfirmChannel {
        final Connection connection;
        final Channel channel;
        final ConcurrentNavigableMap<Long, Pending> pending = new ConcurrentSkipListMap<>();

        ConfirmChannel(Connection connection) throws IOException {
            this.connection = connection;
            boolean ready = false;
            try {
                channel = Objects.requireNonNull(connection.createChannel(), "the connection has no more channels");
                channel.confirmSelect();
                channel.addConfirmListener(
                        (tag, multiple) -> settled(tag, multiple).forEach(it -> it.settle(true)),
                        (tag, multiple) -> settled(tag, multiple).forEach(it -> it.settle(false)));
                channel.addReturnListener(this::returned);
                channel.addShutdownListener(
                        cause -> pending.values().forEach(it -> it.confirmed.completeExceptionally(cause)));
                ready = true;
            } finally {
                if (!ready) {
                    connection.abort(CLOSE_TIMEOUT_MILLIS);
                }
            }
        }

        void publish(Pending message) throws IOException {
            long number = channel.getNextPublishSeqNo();
            pending.put(number, message);
            message.confirmed.whenComplete((done, error) -> pending.remove(number));
            Letter letter = message.letter;
            channel.basicPublish(letter.exchange(), letter.routingKey(), true, letter.properties(), letter.body());
        }

        private Collection<Pending> settled(long tag, boolean multiple) {
            if (multiple) {
                return List.copyOf(pending.headMap(tag, true).values());
            }
            Pending one = pending.get(tag);
            return one == null ? List.of() : List.of(one);
        }

        /** Returns come in the order of sending, and before the confirm. */
        private void returned(Return message) {
            pending.values().stream()
                    .filter(it -> it.is(message))
                    .findFirst()
                    .ifPresentOrElse(
                            it -> it.returned = true,
                            () -> log.warn("A message was returned that is not pending: {}", message.getReplyText()));
        }
    }
}
