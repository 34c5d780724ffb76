package dev.hapax.bench.outbox;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.outbox.OutboxMessage;
import dev.hapax.outbox.Outgoing;
import dev.hapax.outbox.PublishResult;
import dev.hapax.postgres.PostgresSchema;
import dev.hapax.postgres.outbox.Outbox;
import dev.hapax.postgres.outbox.OutboxRelay;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Our outbox with its defaults: one relay, order kept for each of a thousand aggregates. */
final class HapaxSide implements Side {
    private final HikariDataSource pool;
    private final Outbox outbox = Outbox.standard();
    private final AtomicLong delivered = new AtomicLong();
    private volatile @Nullable OutboxRelay relay;

    HapaxSide(String jdbcUrl, int connections) throws SQLException {
        pool = Orders.pool(jdbcUrl, connections);
        PostgresSchema.migrate(pool);
        Orders.create(pool);
    }

    @Override
    public void append(int from, int to) throws SQLException {
        List<OutboxMessage> messages = new ArrayList<>();
        for (int i = from; i < to; i++) {
            messages.add(OutboxMessage.to("orders", Orders.bytes(i)).aggregate(Orders.aggregate(i)));
        }
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            Orders.insert(connection, from);
            outbox.append(connection, messages);
            connection.commit();
        }
        OutboxRelay running = relay;
        if (running != null) {
            running.wake();
        }
    }

    @Override
    public void deliver(boolean deliver) {
        OutboxRelay running = relay;
        if (running != null) {
            running.close();
        }
        relay = deliver ? OutboxRelay.over(pool, this::publish).start() : null;
    }

    private List<CompletionStage<PublishResult>> publish(List<Outgoing> messages) {
        delivered.addAndGet(messages.size());
        return Collections.nCopies(messages.size(), CompletableFuture.completedStage(PublishResult.published()));
    }

    @Override
    public long delivered() {
        return delivered.get();
    }

    @Override
    public long left() throws SQLException {
        return Orders.count(pool, "hapax_outbox");
    }

    @Override
    public void close() {
        deliver(false);
        pool.close();
    }
}
