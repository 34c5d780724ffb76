package dev.hapax.postgres.outbox;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.outbox.OutboxMessage;
import dev.hapax.outbox.Publisher;
import dev.hapax.postgres.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** An outbox in a database of its own, and relays that are quick to try again. Closed with what it started. */
final class TestOutbox implements AutoCloseable {
    final TestDatabase database = TestDatabase.migrated();
    final HikariDataSource pool = database.pool(8);
    final OutboxInspector inspector = OutboxInspector.over(pool);
    private final List<OutboxRelay> relays = new ArrayList<>();

    /** Looks often: most of what is waited for takes a few milliseconds. */
    static ConditionFactory await() {
        return Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(10));
    }

    OutboxRelay.Builder relay(Publisher publisher) {
        return OutboxRelay.over(pool, publisher)
                .pollEvery(Duration.ofMillis(50))
                .backoff(Duration.ofMillis(20), Duration.ofMillis(50));
    }

    OutboxRelay start(OutboxRelay.Builder builder) {
        OutboxRelay relay = builder.start();
        relays.add(relay);
        return relay;
    }

    OutboxRelay start(Publisher publisher) {
        return start(relay(publisher));
    }

    /** The table as a relay sees it that leases for so long. */
    static OutboxTable table(DataSource dataSource, Duration lease) {
        RelaySettings settings = new RelaySettings(
                10,
                lease,
                lease.dividedBy(2),
                Duration.ofSeconds(10),
                Duration.ofSeconds(1),
                10,
                new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(1)),
                WhenParked.WAIT);
        return new OutboxTable(new Database(dataSource, settings.ioTimeout()), settings);
    }

    void append(OutboxMessage... messages) {
        append(Arrays.asList(messages));
    }

    void append(Collection<OutboxMessage> messages) {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            Outbox.standard().append(connection, messages);
            connection.commit();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    long rows() {
        return database.queryLong("SELECT count(*) FROM hapax_outbox");
    }

    void awaitEmpty() {
        await().atMost(Duration.ofSeconds(60)).until(() -> rows() == 0);
    }

    void awaitLeased() {
        await().until(() -> leased() > 0);
    }

    long leased() {
        return database.queryLong("SELECT count(*) FROM hapax_outbox WHERE state = 1");
    }

    void awaitWaiting(int rows) {
        await().until(() ->
                database.queryLong("SELECT count(*) FROM hapax_outbox_messages WHERE state = 'WAITING'") == rows);
    }

    @Override
    public void close() {
        relays.forEach(OutboxRelay::close);
        pool.close();
    }
}
