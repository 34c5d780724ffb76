package dev.hapax.examples.orders;

import com.rabbitmq.client.ConnectionFactory;
import dev.hapax.Hapax;
import dev.hapax.HapaxListener;
import dev.hapax.Lease;
import dev.hapax.Policy;
import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.messaging.rabbit.DeadLetters;
import dev.hapax.messaging.rabbit.RabbitConsumerLoop;
import dev.hapax.messaging.rabbit.RabbitMessage;
import dev.hapax.messaging.rabbit.RabbitMessages;
import dev.hapax.postgres.PostgresStore;
import dev.hapax.postgres.PostgresTransactions;
import dev.hapax.store.OperationKey;
import java.io.IOException;
import java.net.Socket;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Writes a mail for every order. The mail and the record that the message was handled commit together, so a message
 * that comes again changes nothing. Its connection to the broker breaks now and then, just before it acknowledges.
 */
final class MailService implements AutoCloseable {
    private static final String NAME = "orders.mailer";
    private static final String INSERT = "INSERT INTO mail (order_id, recipient, text) VALUES (?, ?, ?)";

    private final Tally tally;
    private final Timeline timeline;
    private final Set<Integer> breaks;
    private final AtomicInteger written = new AtomicInteger();
    private final Set<RabbitMessage> deliveries = ConcurrentHashMap.newKeySet();
    private final AtomicReference<@Nullable Socket> socket = new AtomicReference<>();
    private final Hapax hapax;
    private final RabbitConsumerLoop loop;

    /** @param orders how many there will be: the connection breaks after a third of them and after two thirds */
    MailService(Servers servers, int orders, Tally tally, Timeline timeline) {
        this.tally = tally;
        this.timeline = timeline;
        breaks = Set.copyOf(List.of((orders + 2) / 3, (2 * orders + 2) / 3));
        hapax = Hapax.on(PostgresStore.over(servers.mail()))
                .scope(NAME, Policy.webhook())
                .listener(new HapaxListener() {
                    @Override
                    public void replayed(OperationKey key) {
                        tally.suppressed.increment();
                    }
                })
                .build();
        IdempotentConsumer<RabbitMessage> consumer = RabbitMessages.consumer(NAME, hapax)
                .key(this::key)
                .handlingWithin(PostgresTransactions.over(servers.mail()), this::write);
        ConnectionFactory connections = servers.broker().connections();
        connections.setSocketConfigurator(socket::set);
        loop = RabbitConsumerLoop.of(connections, consumer)
                .queue(Servers.QUEUE)
                .deadLetters(DeadLetters.toQueue(Servers.DEAD_LETTERS))
                .start();
    }

    /** The outbox's own id, the same however often the message is published. */
    private @Nullable String key(RabbitMessage message) {
        if (deliveries.add(message)) { // a message that had to wait is asked for its key again
            tally.delivered.increment();
            if (message.redelivered()) {
                tally.redelivered.increment();
            }
        }
        return message.messageId();
    }

    private void write(RabbitMessage message, Connection connection, Lease lease) throws IOException, SQLException {
        Order order = Order.read(message.body());
        try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
            insert.setLong(1, order.id()); // order_id
            insert.setString(2, order.customer()); // recipient
            insert.setString(3, "Thank you for " + order.reference()); // text
            insert.executeUpdate();
        }
        int mails = written.incrementAndGet();
        if (breaks.contains(mails)) {
            breakConnection(mails);
        }
    }

    private void breakConnection(int mails) throws IOException {
        Socket now = socket.get();
        if (now != null) {
            now.close();
            timeline.mishap("the mail service loses the broker at mail %,d, before it is acknowledged: it comes again"
                    .formatted(mails));
        }
    }

    @Override
    public void close() {
        loop.close();
        hapax.close();
    }
}
