package dev.hapax.messaging.rabbit;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** A broker that speaks AMQP 0-9-1, and what tests do with it. */
interface Broker {

    int port();

    default ConnectionFactory factory() {
        return factory(port());
    }

    static ConnectionFactory factory(int port) {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setHost("127.0.0.1");
        factory.setPort(port);
        factory.setAutomaticRecoveryEnabled(false);
        factory.setConnectionTimeout(5_000);
        return factory;
    }

    interface Work<T> {
        T on(Channel channel) throws Exception;
    }

    /** On a channel of its own, closed afterwards. */
    default <T> T call(Work<T> work) {
        return unchecked(() -> {
            try (Connection connection = factory().newConnection();
                    Channel channel = connection.createChannel()) {
                return work.on(Objects.requireNonNull(channel));
            }
        });
    }

    static <T> T unchecked(Callable<T> work) {
        try {
            return work.call();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** A durable queue of a new name. */
    default String newQueue() {
        return newQueue(Map.of());
    }

    default String newQueue(Map<String, Object> arguments) {
        String name = "q-" + UUID.randomUUID();
        return declare(name, arguments);
    }

    default String declare(String name, Map<String, Object> arguments) {
        return call(channel ->
                channel.queueDeclare(name, true, false, false, arguments).getQueue());
    }

    default void send(String queue, String id) {
        send(queue, id, id);
    }

    default void send(String queue, @Nullable String id, String body) {
        call(channel -> {
            channel.confirmSelect();
            publish(channel, queue, id, body);
            return channel.waitForConfirms(10_000);
        });
    }

    static void publish(Channel channel, String queue, @Nullable String id, String body) throws IOException {
        BasicProperties properties =
                new BasicProperties.Builder().messageId(id).deliveryMode(2).build();
        channel.basicPublish("", queue, properties, body.getBytes(StandardCharsets.UTF_8));
    }

    /** How many messages wait in the queue: those that somebody has and did not acknowledge are not among them. */
    default int waiting(String queue) {
        return call(channel -> channel.queueDeclarePassive(queue).getMessageCount());
    }

    /** Takes a message out of the queue, if there is one. */
    default @Nullable GetResponse take(String queue) {
        return call(channel -> channel.basicGet(queue, true));
    }
}
