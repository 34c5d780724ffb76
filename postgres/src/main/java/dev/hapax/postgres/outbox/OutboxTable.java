package dev.hapax.postgres.outbox;

import static dev.hapax.postgres.outbox.Database.bind;
import static dev.hapax.postgres.outbox.Database.bindLongs;

import dev.hapax.outbox.Outgoing;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * How relays share the table. Safe for use by many threads.
 *
 * <p><b>The lease on an ordering key is the lease on its first row.</b> Only the first row of a key can be leased, and
 * it stays until its messages are finished; so no other relay can publish the second message of an aggregate while the
 * first one is in flight. Every statement that changes rows of a key locks the key's first row before: that row is the
 * key's mutex as well, for the length of one statement. No transaction is open while a broker is waited for.
 *
 * <p><b>Rows behind the first one wait.</b> Rows are found by {@code due}. A row that is due but not the first of its
 * key becomes {@code WAITING}, with a {@code due} that never comes, so a million messages behind one that cannot be
 * delivered cost the others nothing: each is looked at once. Finishing the rows before it makes the next first row due
 * again. No row is forgotten: a claim that sets rows to waiting holds the lock on the key's first row, and the
 * statement that removes that row looks for the next one afterwards. For the same reason messages are finished by a
 * second statement, after the one that locked their first row: rows that were set to waiting in between have a newer
 * version, at another place. Only rows that are deleted by hand can leave waiting rows behind, see
 * {@link #releaseOrphanedWaiting}.
 *
 * <p><b>No row can come before the first row of its key</b>, since appends to one key are serialized until they are
 * committed: see {@link Outbox}.
 */
final class OutboxTable {
    private static final int PARKED = 3;

    /** The {@code due} of a waiting row. Not infinity, which parked rows have: each is found without the other. */
    static final String NEVER = "timestamptz '9999-12-31 00:00:00+00'";

    /**
     * A lease that is lost in a crash of the server leads to a second delivery only, so its commit is not synced. Which
     * keys are leased if there are more than asked for is left to chance: up to PostgreSQL 17, a sort that the guard
     * disables counts as so expensive that the plan would be compiled. Rows behind a first row that waits itself stay
     * due, so that a later claim finds the key if this one does not lease it.
     */
    private static final String CLAIM = Database.guardedWithoutSync("""
            WITH candidate AS MATERIALIZED (
                SELECT ordering_key, seq, ctid AS place FROM hapax_outbox
                WHERE due <= (SELECT clock_timestamp()) ORDER BY due LIMIT ?
                FOR UPDATE SKIP LOCKED),
            first AS MATERIALIZED (
                SELECT found.ordering_key, earliest.seq FROM (SELECT DISTINCT ordering_key FROM candidate) AS found
                CROSS JOIN LATERAL (
                    SELECT o.seq FROM hapax_outbox o
                    WHERE o.ordering_key = found.ordering_key ORDER BY o.seq LIMIT 1) AS earliest),
            head AS MATERIALIZED (
                SELECT locked.* FROM first
                CROSS JOIN LATERAL (
                    SELECT o.ordering_key, o.seq, o.ctid AS place, o.state, o.due FROM hapax_outbox o
                    WHERE o.ordering_key = first.ordering_key AND o.seq = first.seq
                    FOR UPDATE SKIP LOCKED) AS locked),
            leased AS (
                UPDATE hapax_outbox
                SET state = 1, token = ?, attempt = attempt + 1,
                    due = clock_timestamp() + ? * interval '1 millisecond'
                WHERE ctid = ANY (ARRAY (SELECT place FROM head WHERE due <= clock_timestamp() OR state = 2 LIMIT ?))
                RETURNING ordering_key, seq),
            waiting AS (
                UPDATE hapax_outbox
                SET state = 2, due = %s
                WHERE ctid = ANY (ARRAY (
                    SELECT candidate.place FROM candidate JOIN head USING (ordering_key)
                    WHERE candidate.seq > head.seq AND head.state <> 2))
                RETURNING ordering_key)
            SELECT tally.*, %s AS is_guarded, message.*
            FROM (
                SELECT (SELECT count(*) FROM candidate) AS found, (SELECT count(*) FROM waiting) AS waiting,
                    (SELECT count(*) FROM candidate WHERE NOT EXISTS (
                        SELECT FROM head WHERE head.ordering_key = candidate.ordering_key)) AS behind_locked) AS tally
            LEFT JOIN (
                SELECT head.state = 1 AS taken_over, entry.*
                FROM leased JOIN head USING (ordering_key, seq)
                CROSS JOIN LATERAL (
                    SELECT o.ordering_key, o.seq, o.id, o.topic, o.aggregate, o.headers, o.body, o.created_at, o.attempt
                    FROM hapax_outbox o
                    WHERE o.ordering_key = leased.ordering_key AND o.seq >= leased.seq
                    ORDER BY o.seq LIMIT greatest(1, ? / (SELECT nullif(count(*), 0) FROM leased))) AS entry) AS message
                ON true""".formatted(NEVER, Database.IS_GUARDED));

    /**
     * Undoes a claim, its attempt included. Leases are found by the time in which they end, since there is no index on
     * tokens. Lost in a crash of the server, the leases expire by themselves.
     */
    private static final String RELEASE = Database.guardedWithoutSync("""
            WITH orphan AS MATERIALIZED (
                SELECT ctid AS place FROM hapax_outbox
                WHERE due > (SELECT clock_timestamp())
                    AND due <= (SELECT clock_timestamp()) + ? * interval '1 millisecond'
                    AND state = 1 AND token = ANY (?::uuid[])
                FOR UPDATE SKIP LOCKED)
            UPDATE hapax_outbox
            SET state = 0, attempt = attempt - 1, due = clock_timestamp()
            WHERE ctid = ANY (ARRAY (SELECT place FROM orphan))""");

    private static final String RELEASE_ORPHANED_WAITING = Database.guarded("""
            WITH orphan AS MATERIALIZED (
                SELECT waiting.ctid AS place FROM hapax_outbox AS waiting
                WHERE waiting.due = %s AND waiting.state = 2 AND waiting.seq = (
                    SELECT o.seq FROM hapax_outbox o
                    WHERE o.ordering_key = waiting.ordering_key ORDER BY o.seq LIMIT 1)
                FOR UPDATE OF waiting SKIP LOCKED)
            UPDATE hapax_outbox SET state = 0, due = clock_timestamp()
            WHERE state = 2 AND ctid = ANY (ARRAY (SELECT place FROM orphan))""".formatted(NEVER));

    /**
     * Makes the first row of each key due, if it was waiting. The state is checked on the row that is changed: some
     * releases of PostgreSQL change the newer version of a row that was at that place.
     */
    private static final String ADVANCE = """
            UPDATE hapax_outbox SET state = 0, due = clock_timestamp()
            WHERE state = 2 AND ctid = ANY (ARRAY (
                SELECT first.place FROM unnest(?::int8[]) AS moved (ordering_key)
                CROSS JOIN LATERAL (
                    SELECT o.ctid AS place FROM hapax_outbox o
                    WHERE o.ordering_key = moved.ordering_key ORDER BY o.seq LIMIT 1) AS first))""";

    /**
     * Locks the first rows of the keys that we hold a lease on: the next statement sees these keys' rows as they are.
     */
    private static final String LOCK_HEADS = """
            SELECT count(*) FROM unnest(?::int8[], ?::int8[], ?::uuid[]) AS lease (ordering_key, seq, token)
            CROSS JOIN LATERAL (
                SELECT FROM hapax_outbox o
                WHERE o.ordering_key = lease.ordering_key AND o.seq = lease.seq AND o.token = lease.token
                FOR UPDATE) AS head;
            """;

    private static final String FINISH = Database.guarded(LOCK_HEADS + """
            WITH still_leased AS MATERIALIZED (
                SELECT lease.number, head.ordering_key
                FROM unnest(?::int8[], ?::int8[], ?::uuid[]) WITH ORDINALITY AS lease (ordering_key, seq, token, number)
                CROSS JOIN LATERAL (
                    SELECT o.ordering_key FROM hapax_outbox o
                    WHERE o.ordering_key = lease.ordering_key AND o.seq = lease.seq AND o.token = lease.token
                    OFFSET 0) AS head),
            removed AS (
                DELETE FROM hapax_outbox
                WHERE ctid = ANY (ARRAY (
                    SELECT found.place
                    FROM unnest(?::int8[], ?::int8[]) AS published (number, seq) JOIN still_leased USING (number)
                    CROSS JOIN LATERAL (
                        SELECT o.ctid AS place FROM hapax_outbox o
                        WHERE o.ordering_key = still_leased.ordering_key AND o.seq = published.seq OFFSET 0) AS found))),
            kept AS (
                UPDATE hapax_outbox
                SET ordering_key = failure.to_ordering_key, state = failure.to_state, attempt = failure.attempts,
                    token = NULL,
                    due = CASE failure.to_state WHEN 3 THEN 'infinity'
                        ELSE clock_timestamp() + failure.delay * interval '1 millisecond' END,
                    error = failure.reason
                FROM (
                    SELECT found.place, failed.*
                    FROM unnest(?::int8[], ?::int8[], ?::int8[], ?::int4[], ?::int4[], ?::int8[], ?::text[])
                        AS failed (number, seq, to_ordering_key, to_state, attempts, delay, reason)
                    JOIN still_leased USING (number)
                    CROSS JOIN LATERAL (
                        SELECT o.ctid AS place FROM hapax_outbox o
                        WHERE o.ordering_key = still_leased.ordering_key AND o.seq = failed.seq OFFSET 0) AS found
                    ) AS failure
                WHERE hapax_outbox.ctid = failure.place)
            SELECT number FROM still_leased;
            """ + ADVANCE);

    /**
     * The leases whose rows, or the row behind them, which a finish changes as well, another transaction has locked.
     */
    private static final String FIND_LOCKED = Database.guarded("""
            WITH message AS MATERIALIZED (
                SELECT lease.number, o.ordering_key, o.seq
                FROM unnest(?::int8[], ?::int8[], ?::int4[]) WITH ORDINALITY AS lease (ordering_key, seq, size, number)
                CROSS JOIN LATERAL (
                    SELECT o.ordering_key, o.seq FROM hapax_outbox o
                    WHERE o.ordering_key = lease.ordering_key AND o.seq >= lease.seq
                    ORDER BY o.seq LIMIT lease.size + 1) AS o),
            free AS MATERIALIZED (
                SELECT message.number, message.seq FROM message
                CROSS JOIN LATERAL (
                    SELECT FROM hapax_outbox o
                    WHERE o.ordering_key = message.ordering_key AND o.seq = message.seq
                    FOR UPDATE SKIP LOCKED) AS o)
            SELECT DISTINCT number FROM message
            WHERE NOT EXISTS (SELECT FROM free WHERE free.number = message.number AND free.seq = message.seq)""");

    private final Database database;
    private final RelaySettings settings;

    /**
     * @param found how many due rows were looked at
     * @param waiting how many of them are not the first of their key
     * @param behindLocked how many of them could not be used, because another transaction has locked the first row of
     *     their key
     */
    record Claimed(LeasedMessages.Lease lease, List<LeasedMessages> leased, int found, int waiting, int behindLocked) {
        boolean progressed() {
            return waiting > 0 || !leased.isEmpty();
        }
    }

    /**
     * @param stillLeased those whose leases had not expired
     * @param advanced how many keys have a next message that is now due
     */
    record Finished(Set<LeasedMessages> stillLeased, int advanced) {}

    OutboxTable(Database database, RelaySettings settings) {
        this.database = database;
        this.settings = settings;
    }

    /**
     * Leases keys that have a due message, the longest due first.
     *
     * @param reach how many due rows to look at, at most
     * @param most how many messages to lease in all, at most
     * @param beforeSending gets the lease before the database may grant it: if no answer comes, it is to be released
     */
    Claimed claim(int reach, int most, Consumer<LeasedMessages.Lease> beforeSending) {
        return database.call(CLAIM, claim -> {
            claim.setInt(1, reach); // candidates
            claim.setLong(3, settings.lease().toMillis()); // due
            claim.setInt(4, most); // ordering keys
            claim.setInt(5, most); // messages
            // Counted from here, and not from before the wait for a connection.
            LeasedMessages.Lease lease = new LeasedMessages.Lease(
                    UUID.randomUUID(),
                    System.nanoTime()
                            + TimeUnit.MILLISECONDS.toNanos(settings.lease().toMillis()));
            claim.setObject(2, lease.token()); // token
            beforeSending.accept(lease);
            Database.execute(claim);
            try (ResultSet rows = claim.getResultSet()) {
                return read(lease, rows);
            }
        });
    }

    private Claimed read(LeasedMessages.Lease lease, ResultSet row) throws SQLException {
        Map<Long, List<LeasedMessages.Entry>> entries = new LinkedHashMap<>();
        Set<Long> takenOver = new HashSet<>();
        int found = 0;
        int waiting = 0;
        int behindLocked = 0;
        while (row.next()) {
            Database.requireGuarded(row);
            found = row.getInt("found");
            waiting = row.getInt("waiting");
            behindLocked = row.getInt("behind_locked");
            long orderingKey = row.getLong("ordering_key");
            if (!row.wasNull()) {
                entries.computeIfAbsent(orderingKey, it -> new ArrayList<>()).add(entry(row));
                if (row.getBoolean("taken_over")) {
                    takenOver.add(orderingKey);
                }
            }
        }
        List<LeasedMessages> leased = new ArrayList<>(entries.size());
        entries.forEach((orderingKey, messages) ->
                leased.add(new LeasedMessages(lease, orderingKey, messages, takenOver.contains(orderingKey))));
        return new Claimed(lease, leased, found, waiting, behindLocked);
    }

    private LeasedMessages.Entry entry(ResultSet row) throws SQLException {
        MessageRow message = MessageRow.read(row);
        Outgoing outgoing = new Outgoing(
                message.message(),
                row.getObject("created_at", OffsetDateTime.class).toInstant(),
                Math.max(1, row.getInt("attempt") + 1),
                settings.publishTimeout());
        return new LeasedMessages.Entry(row.getLong("seq"), outgoing, message.unreadable());
    }

    /**
     * Releases the leases of claims whose answers were lost, except for rows that another transaction has locked.
     * Idempotent.
     *
     * @return how many there were
     */
    int release(List<UUID> tokens) {
        return database.call(RELEASE, release -> {
            release.setLong(1, settings.lease().toMillis()); // due
            bind(release, 2, "uuid", UUID[]::new, tokens, token -> token); // token
            Database.execute(release);
            return release.getUpdateCount();
        });
    }

    /**
     * Makes waiting rows due that are the first of their key, because the row that they waited for was deleted by hand,
     * except for rows that another transaction has locked. Reads every waiting row.
     *
     * @return how many there were
     */
    int releaseOrphanedWaiting() {
        return database.call(RELEASE_ORPHANED_WAITING, release -> {
            Database.execute(release);
            return release.getUpdateCount();
        });
    }

    /** Removes published messages and records the failed one, of each key whose lease has not expired. */
    Finished finish(List<LeasedMessages> all) {
        return database.call(FINISH, finish -> {
            bindLeases(finish, 1, all); // to lock
            bindLeases(finish, 4, all); // still leased
            bindPublished(finish, all);
            bindFailures(finish, all);
            bindLongs(finish, 16, all, LeasedMessages::orderingKey); // ordering_key, to advance
            Database.execute(finish);
            finish.getMoreResults();
            Set<LeasedMessages> stillLeased;
            try (ResultSet rows = finish.getResultSet()) {
                stillLeased = numbered(all, rows);
            }
            finish.getMoreResults();
            return new Finished(stillLeased, finish.getUpdateCount());
        });
    }

    /** Those that cannot be finished now, because another transaction has locked some of their rows. */
    Set<LeasedMessages> findLocked(List<LeasedMessages> all) {
        return database.call(FIND_LOCKED, find -> {
            bindLongs(find, 1, all, LeasedMessages::orderingKey); // ordering_key
            bindLongs(find, 2, all, LeasedMessages::headSeq); // seq
            bind(find, 3, "int4", Integer[]::new, all, LeasedMessages::size); // size
            Database.execute(find);
            try (ResultSet rows = find.getResultSet()) {
                return numbered(all, rows);
            }
        });
    }

    private static Set<LeasedMessages> numbered(List<LeasedMessages> all, ResultSet rows) throws SQLException {
        Set<LeasedMessages> found = new HashSet<>();
        while (rows.next()) {
            found.add(all.get(rows.getInt("number") - 1));
        }
        return found;
    }

    private static void bindLeases(PreparedStatement finish, int index, List<LeasedMessages> all) throws SQLException {
        bindLongs(finish, index, all, LeasedMessages::orderingKey); // ordering_key
        bindLongs(finish, index + 1, all, LeasedMessages::headSeq); // seq
        bind(finish, index + 2, "uuid", UUID[]::new, all, it -> it.lease().token()); // token
    }

    private static void bindPublished(PreparedStatement finish, List<LeasedMessages> all) throws SQLException {
        record Position(long number, long seq) {}
        List<Position> published = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            for (LeasedMessages.Entry entry : all.get(i).published()) {
                published.add(new Position(i + 1, entry.seq()));
            }
        }
        bindLongs(finish, 7, published, Position::number); // number
        bindLongs(finish, 8, published, Position::seq); // seq
    }

    private void bindFailures(PreparedStatement finish, List<LeasedMessages> all) throws SQLException {
        record Failed(long number, long orderingKey, LeasedMessages.Entry entry, PublishFailure failure) {
            int attempt() {
                return entry.outgoing().attempt();
            }

            long delay() {
                Duration retryIn = failure.retryIn();
                return retryIn == null ? 0 : retryIn.toMillis();
            }
        }
        List<Failed> failed = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            LeasedMessages it = all.get(i);
            PublishFailure failure = it.failure();
            if (failure != null) {
                failed.add(new Failed(i + 1, keyAfter(it, failure), it.current(), failure));
            }
        }
        bindLongs(finish, 9, failed, Failed::number); // number
        bindLongs(finish, 10, failed, it -> it.entry().seq()); // seq
        bindLongs(finish, 11, failed, Failed::orderingKey); // to_ordering_key
        bind(finish, 12, "int4", Integer[]::new, failed, it -> it.failure().isParked() ? PARKED : 0); // to_state
        bind(finish, 13, "int4", Integer[]::new, failed, Failed::attempt); // attempts
        bindLongs(finish, 14, failed, Failed::delay); // delay
        bind(
                finish,
                15,
                "text",
                String[]::new,
                failed,
                it -> it.failure().reason().replace('\0', ' ')); // reason
    }

    /** A parked message that the others do not wait for leaves its ordering key. */
    private long keyAfter(LeasedMessages messages, PublishFailure failure) {
        return failure.isParked() && settings.whenParked() == WhenParked.GO_ON
                ? OrderingKey.unordered(messages.current().outgoing().message().id())
                : messages.orderingKey();
    }
}
