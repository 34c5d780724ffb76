package dev.hapax.postgres.outbox;

import dev.hapax.outbox.OutboxMessage;
import dev.hapax.store.StoreException;
import dev.hapax.store.StoreUnavailableException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.UUID;

/**
 * Appends messages to the outbox within the caller's own transaction: they are published if it commits, and never if it
 * rolls back. Immutable; the connection is the caller's.
 *
 * <pre>{@code
 * connection.setAutoCommit(false);
 * orders.insert(connection, order);
 * outbox.append(connection, OutboxMessage.to("orders", json).aggregate(order.id()));
 * connection.commit();
 * relay.wake();
 * }</pre>
 *
 * <p><b>Order.</b> Messages of one topic and aggregate are published in the order in which they were appended. So that
 * they also become visible in this order, transactions that append to the same aggregate are serialized: the second one
 * waits in {@code append} until the first one has ended. Append last, right before the commit, to keep this wait short.
 * Messages without an aggregate never wait. Like row locks these locks can deadlock when two transactions append to
 * several aggregates in several calls, in opposite order; even to different ones, since aggregates share 1,024 locks.
 * PostgreSQL ends one of them (SQLState 40P01); one call with all messages avoids it.
 */
public final class Outbox {
    /** The channel of {@link #notifying()}. */
    static final String CHANNEL = "hapax_outbox";

    private static final int LOCK_SPACE = 0x68706F62; // "hpob"

    /** Sorted by number, so that two calls cannot deadlock. */
    private static final String LOCK = """
            SELECT count(pg_advisory_xact_lock(%d, number)) FROM unnest(?::int4[]) AS number;
            """.formatted(LOCK_SPACE);

    private static final String INSERT = """
            INSERT INTO hapax_outbox (ordering_key, id, topic, aggregate, headers, body, created_at, state, due)
            SELECT ordering_key, id, topic, aggregate, headers, body, clock_timestamp(), 0, clock_timestamp()
            FROM unnest(?::int8[], ?::uuid[], ?::text[], ?::text[], ?::text[], ?::bytea[])
                WITH ORDINALITY AS message (ordering_key, id, topic, aggregate, headers, body, nth)
            ORDER BY nth""";

    private static final String NOTIFY = "; SELECT pg_notify('" + CHANNEL + "', '')";

    private final boolean notifying;

    private Outbox(boolean notifying) {
        this.notifying = notifying;
    }

    /** An outbox whose relays poll, and look at once when they are woken. */
    public static Outbox standard() {
        return new Outbox(false);
    }

    /**
     * An outbox that also wakes the relays of other processes that {@link OutboxRelay.Builder#listen listen}, when the
     * transaction commits. PostgreSQL serializes the commits of transactions that notify; with many of them, a delay of
     * up to a second costs less.
     */
    public Outbox notifying() {
        return new Outbox(true);
    }

    /** Appends messages in the given order, in one round trip. The same as the other {@code append}. */
    public void append(Connection connection, OutboxMessage... messages) {
        append(connection, List.of(messages));
    }

    /**
     * Appends messages in the given order, in one round trip. Never commits.
     *
     * @throws IllegalArgumentException when the connection is in auto-commit mode: nothing would commit together
     * @throws StoreUnavailableException when the same transaction may succeed if it is begun again
     * @throws StoreException when PostgreSQL refuses; the transaction is to be rolled back
     */
    public void append(Connection connection, Collection<OutboxMessage> messages) {
        try {
            if (connection.getAutoCommit()) {
                throw new IllegalArgumentException(
                        "the connection is in auto-commit mode, so nothing would commit together: call "
                                + "setAutoCommit(false)");
            }
            if (!messages.isEmpty()) {
                insert(connection, List.copyOf(messages));
            }
        } catch (SQLException e) {
            throw Database.translate(e);
        }
    }

    private void insert(Connection connection, List<OutboxMessage> messages) throws SQLException {
        Integer[] locks = messages.stream()
                .filter(message -> message.aggregate() != null)
                .map(message -> OrderingKey.lock(OrderingKey.of(message)))
                .distinct()
                .sorted()
                .toArray(Integer[]::new);
        String sql = (locks.length == 0 ? "" : LOCK) + INSERT + (notifying ? NOTIFY : "");
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            int at = 1;
            if (locks.length > 0) {
                statement.setArray(at++, connection.createArrayOf("int4", locks));
            }
            Database.bindLongs(statement, at++, messages, OrderingKey::of); // ordering_key
            Database.bind(statement, at++, "uuid", UUID[]::new, messages, OutboxMessage::id); // id
            Database.bind(statement, at++, "text", String[]::new, messages, OutboxMessage::topic); // topic
            Database.bind(statement, at++, "text", String[]::new, messages, OutboxMessage::aggregate); // aggregate
            Database.bind(
                    statement, at++, "text", String[]::new, messages, it -> Headers.write(it.headers())); // headers
            Database.bind(statement, at, "bytea", byte[][]::new, messages, OutboxMessage::body); // body
            statement.execute();
        }
    }
}
