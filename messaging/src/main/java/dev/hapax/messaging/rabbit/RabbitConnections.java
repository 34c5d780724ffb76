package dev.hapax.messaging.rabbit;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.io.IOException;
import java.util.concurrent.TimeoutException;

/**
 * Opens connections to the broker, such as {@code () -> factory.newConnection(addresses)}. Safe for use by many
 * threads.
 *
 * <p>Whoever asks for a connection here owns it. When it breaks it is closed for good and another one is asked for; the
 * client's own recovery is neither needed nor in the way.
 */
@FunctionalInterface
public interface RabbitConnections {

    /** Opens a new connection. */
    Connection open() throws IOException, TimeoutException;

    /** Connections of a factory, as it is set up now, without the client's own recovery. */
    static RabbitConnections of(ConnectionFactory factory) {
        ConnectionFactory ours = factory.clone();
        ours.setAutomaticRecoveryEnabled(false);
        return ours::newConnection;
    }
}
