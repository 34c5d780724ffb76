package dev.hapax.postgres.outbox;

import dev.hapax.postgres.OpenTransactionException;
import dev.hapax.store.StoreException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;

/**
 * Reads an outbox and decides about parked messages: for operators, consoles and metrics. Blocking; safe for use by
 * many threads. Every method throws {@link StoreException} when the database cannot be reached or refuses, and
 * {@link OpenTransactionException} when the data source is bound to a transaction of the calling thread, which it
 * leaves as it is.
 */
public final class OutboxInspector {
    private static final Duration IO_TIMEOUT = Duration.ofSeconds(30);

    private static final String LAG = """
            SELECT count(*) FILTER (WHERE state <> 3) AS depth, count(*) FILTER (WHERE state = 3) AS parked,
                coalesce(extract(epoch FROM clock_timestamp() - min(created_at) FILTER (WHERE state <> 3)), 0) AS oldest
            FROM hapax_outbox""";

    private static final String PARKED = Database.guarded("""
            SELECT id, topic, aggregate, headers, body, created_at, attempt, error FROM hapax_outbox
            WHERE due = 'infinity' AND state = 3 LIMIT ?""");

    private static final String UNPARK = Database.guarded("""
            UPDATE hapax_outbox SET state = 0, due = clock_timestamp(), attempt = 0
            WHERE due = 'infinity' AND state = 3 AND id = ?""");

    private static final String UNPARK_ALL = Database.guarded("""
            UPDATE hapax_outbox SET state = 0, due = clock_timestamp(), attempt = 0
            WHERE due = 'infinity' AND state = 3 AND topic = ?""");

    /**
     * Locks the row before it is removed, so that the statement that does sees the rows that were set to waiting until
     * then.
     */
    private static final String DISCARD = Database.guarded("""
            SELECT 1 FROM hapax_outbox WHERE due = 'infinity' AND state = 3 AND id = ? FOR UPDATE;
            WITH gone AS (
                DELETE FROM hapax_outbox
                WHERE due = 'infinity' AND state = 3 AND id = ? AND %1$s
                RETURNING ordering_key, seq),
            advanced AS (
                UPDATE hapax_outbox SET state = 0, due = clock_timestamp()
                WHERE state = 2 AND ctid = ANY (ARRAY (
                    SELECT first.place FROM gone
                    CROSS JOIN LATERAL (
                        SELECT o.ctid AS place FROM hapax_outbox o
                        WHERE o.ordering_key = gone.ordering_key AND o.seq <> gone.seq ORDER BY o.seq LIMIT 1) AS first)))
            SELECT count(*) AS removed, %1$s AS is_guarded FROM gone""".formatted(Database.IS_GUARDED));

    private final Database database;

    private OutboxInspector(Database database) {
        this.database = database;
    }

    public static OutboxInspector over(DataSource dataSource) {
        return new OutboxInspector(new Database(dataSource, IO_TIMEOUT));
    }

    /** How far the relays are behind. Counts every row. */
    public OutboxLag lag() {
        return database.call(LAG, look -> {
            try (ResultSet row = look.executeQuery()) {
                row.next();
                Duration oldest = Duration.ofMillis((long) (row.getDouble("oldest") * 1_000));
                return new OutboxLag(
                        row.getLong("depth"), oldest.isNegative() ? Duration.ZERO : oldest, row.getLong("parked"));
            }
        });
    }

    /**
     * Messages that are parked, and why; at most so many, in no particular order. A message that was parked because its
     * row cannot be read has its id, its body and, if that is valid, its topic.
     */
    public List<ParkedMessage> parked(int limit) {
        return database.call(PARKED, look -> {
            look.setInt(1, limit);
            Database.execute(look);
            List<ParkedMessage> parked = new ArrayList<>();
            try (ResultSet row = look.getResultSet()) {
                while (row.next()) {
                    parked.add(parked(row));
                }
            }
            return parked;
        });
    }

    private static ParkedMessage parked(ResultSet row) throws SQLException {
        return new ParkedMessage(
                MessageRow.read(row).message(),
                row.getObject("created_at", OffsetDateTime.class).toInstant(),
                row.getInt("attempt"),
                row.getString("error"));
    }

    /**
     * Retries a parked message, starting again with the first attempt. With {@link WhenParked#WAIT} it is published
     * before the messages that wait behind it.
     *
     * @return whether it was parked
     */
    public boolean unpark(UUID id) {
        return database.call(UNPARK, unpark -> {
            unpark.setObject(1, id); // id
            Database.execute(unpark);
            return unpark.getUpdateCount() > 0;
        });
    }

    /** Retries all parked messages of a topic. @return how many there were */
    public int unparkAll(String topic) {
        return database.call(UNPARK_ALL, unpark -> {
            unpark.setString(1, topic); // topic
            Database.execute(unpark);
            return unpark.getUpdateCount();
        });
    }

    /** Removes a parked message for good; the messages behind it are published. @return whether it was parked */
    public boolean discard(UUID id) {
        return database.call(DISCARD, discard -> {
            discard.setObject(1, id); // id, to lock
            discard.setObject(2, id); // id
            Database.execute(discard);
            discard.getMoreResults();
            try (ResultSet row = discard.getResultSet()) {
                row.next();
                Database.requireGuarded(row);
                return row.getLong("removed") > 0;
            }
        });
    }
}
