package dev.hapax.postgres.outbox;

import static dev.hapax.postgres.outbox.Database.bind;
import static dev.hapax.postgres.outbox.Database.bindLongs;

import dev.hapax.outbox.OutboxMessage;
import dev.hapax.outbox.Outgoing;
import dev.hapax.store.StoreException;
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
import java.util.Objects;
import java.util.Set;
import java.util.UUID;

/**
 * How relays share the table. Safe for use by many threads.
 *
 * <p><b>A lane belongs to who holds its first row.</b> Only a lane's first row can be leased, and it stays until its
 * run is finished; so nobody else can publish the second message of an aggregate while the first one is under way.
 * Whatever changes rows of a lane locks its first row before, for the length of one statement: that row is the lane's
 * mutex as well. No transaction is open while a broker is waited for.
 *
 * <p><b>Rows that are not first are set aside.</b> Rows are found by {@code due}. One that is due and finds another one
 * before it gets a {@code due} far ahead, so that a lane of a million messages whose first one cannot be delivered
 * costs the others nothing. When a run is finished the row that is then first is made due again. It cannot be missed:
 * who sets rows aside holds the lock on the lane's first row, and who removes that row looks for the next one
 * afterwards, in a statement of its own. For the same reason a run is finished by a statement that comes after the one
 * that locked its first row: what was set aside meanwhile is another version of the row, at another place. Should
 * somebody remove rows by hand, what was set aside is looked at after an hour.
 *
 * <p><b>Nothing can come before a lane's first row</b>, since appends to one lane go one after the other until they are
 * committed: see {@link Outbox}.
 */
final class OutboxTable {
    private static final int PARKED = 3;

    /** A lease that a crash of the server forgets was only a lease: its commit need not wait for the disk. */
    private static final String CLAIM = Database.guardedWithoutSync("""
            WITH candidate AS MATERIALIZED (
                SELECT lane, seq, ctid AS place FROM hapax_outbox
                WHERE due <= (SELECT clock_timestamp()) ORDER BY due LIMIT ?
                FOR UPDATE SKIP LOCKED),
            first AS MATERIALIZED (
                SELECT found.lane, earliest.seq FROM (SELECT DISTINCT lane FROM candidate) AS found
                CROSS JOIN LATERAL (
                    SELECT o.seq FROM hapax_outbox o WHERE o.lane = found.lane ORDER BY o.seq LIMIT 1) AS earliest),
            head AS MATERIALIZED (
                SELECT locked.* FROM first
                CROSS JOIN LATERAL (
                    SELECT o.lane, o.seq, o.ctid AS place, o.state, o.due FROM hapax_outbox o
                    WHERE o.lane = first.lane AND o.seq = first.seq
                    FOR UPDATE SKIP LOCKED) AS locked),
            leased AS (
                UPDATE hapax_outbox
                SET state = 1, token = ?, attempt = attempt + 1,
                    due = clock_timestamp() + ? * interval '1 millisecond'
                WHERE ctid = ANY (ARRAY (SELECT place FROM head WHERE due <= clock_timestamp() OR state = 2))
                RETURNING lane, seq),
            aside AS (
                UPDATE hapax_outbox
                SET state = 2, due = clock_timestamp() + interval '1 hour'
                WHERE ctid = ANY (ARRAY (
                    SELECT candidate.place FROM candidate JOIN head USING (lane) WHERE candidate.seq > head.seq))
                RETURNING lane)
            SELECT tally.found, tally.aside, %s AS is_guarded, run.*
            FROM (SELECT (SELECT count(*) FROM candidate) AS found, (SELECT count(*) FROM aside) AS aside) AS tally
            LEFT JOIN (
                SELECT head.state = 1 AS taken_over, message.*
                FROM leased JOIN head USING (lane, seq)
                CROSS JOIN LATERAL (
                    SELECT o.lane, o.seq, o.id, o.topic, o.aggregate, o.headers, o.body, o.created_at, o.attempt, o.state
                    FROM hapax_outbox o
                    WHERE o.lane = leased.lane AND o.seq >= leased.seq
                    ORDER BY o.seq LIMIT greatest(1, ? / (SELECT nullif(count(*), 0) FROM leased))) AS message) AS run
                ON true""".formatted(Database.IS_GUARDED));

    /**
     * Makes the first row of each lane due, if it was set aside. The state is asked of the row that is changed: some
     * releases of PostgreSQL change the newer version of a row that was at that place.
     */
    private static final String ADVANCE = """
            UPDATE hapax_outbox SET state = 0, due = clock_timestamp()
            WHERE state = 2 AND ctid = ANY (ARRAY (
                SELECT first.place FROM unnest(?::int8[]) AS moved (lane)
                CROSS JOIN LATERAL (
                    SELECT o.ctid AS place FROM hapax_outbox o
                    WHERE o.lane = moved.lane ORDER BY o.seq LIMIT 1) AS first))""";

    /** Locks the first rows of the lanes that are ours: what the next statement sees of these lanes stays as it is. */
    private static final String HOLD = """
            SELECT count(*) FROM unnest(?::int8[], ?::int8[], ?::uuid[]) AS run (lane, seq, token)
            CROSS JOIN LATERAL (
                SELECT FROM hapax_outbox o
                WHERE o.lane = run.lane AND o.seq = run.seq AND o.token = run.token
                FOR UPDATE) AS held;
            """;

    private static final String FINISH = Database.guarded(HOLD + """
            WITH mine AS MATERIALIZED (
                SELECT run.number, held.lane
                FROM unnest(?::int8[], ?::int8[], ?::uuid[]) WITH ORDINALITY AS run (lane, seq, token, number)
                CROSS JOIN LATERAL (
                    SELECT o.lane FROM hapax_outbox o
                    WHERE o.lane = run.lane AND o.seq = run.seq AND o.token = run.token OFFSET 0) AS held),
            removed AS (
                DELETE FROM hapax_outbox
                WHERE ctid = ANY (ARRAY (
                    SELECT found.place
                    FROM unnest(?::int8[], ?::int8[]) AS published (number, seq) JOIN mine USING (number)
                    CROSS JOIN LATERAL (
                        SELECT o.ctid AS place FROM hapax_outbox o
                        WHERE o.lane = mine.lane AND o.seq = published.seq OFFSET 0) AS found))),
            kept AS (
                UPDATE hapax_outbox
                SET lane = setback.to_lane, state = setback.to_state, attempt = setback.attempts, token = NULL,
                    due = CASE setback.to_state WHEN 3 THEN 'infinity'
                        ELSE clock_timestamp() + setback.delay * interval '1 millisecond' END,
                    error = setback.reason
                FROM (
                    SELECT found.place, stopped.*
                    FROM unnest(?::int8[], ?::int8[], ?::int8[], ?::int4[], ?::int4[], ?::int8[], ?::text[])
                        AS stopped (number, seq, to_lane, to_state, attempts, delay, reason)
                    JOIN mine USING (number)
                    CROSS JOIN LATERAL (
                        SELECT o.ctid AS place FROM hapax_outbox o
                        WHERE o.lane = mine.lane AND o.seq = stopped.seq OFFSET 0) AS found) AS setback
                WHERE hapax_outbox.ctid = setback.place)
            SELECT number FROM mine;
            """ + ADVANCE);

    private final Database database;
    private final WhenParked whenParked;

    /**
     * @param found how many due rows were looked at
     * @param aside how many of them are not their lane's first
     */
    record Claimed(List<Run> runs, int found, int aside) {
        boolean progressed() {
            return aside > 0 || !runs.isEmpty();
        }
    }

    /**
     * @param mine those whose leases had not run out
     * @param advanced how many lanes have a next message that is now due
     */
    record Finished(Set<Run> mine, int advanced) {}

    OutboxTable(Database database, WhenParked whenParked) {
        this.database = database;
        this.whenParked = whenParked;
    }

    /**
     * Leases lanes that have something due, the longest due first.
     *
     * @param reach how many due rows to look at, at most
     * @param most how many messages to take in all, at most
     */
    Claimed claim(Duration duration, int reach, int most) {
        Run.Lease lease = new Run.Lease(UUID.randomUUID(), System.nanoTime() + duration.toNanos());
        return database.call(CLAIM, claim -> {
            claim.setInt(1, reach); // candidates
            claim.setObject(2, lease.token()); // token
            claim.setLong(3, duration.toMillis()); // due
            claim.setInt(4, most); // messages
            Database.execute(claim);
            try (ResultSet rows = claim.getResultSet()) {
                return read(lease, rows);
            }
        });
    }

    private static Claimed read(Run.Lease lease, ResultSet row) throws SQLException {
        Map<Long, List<Run.Entry>> lanes = new LinkedHashMap<>();
        Set<Long> takenOver = new HashSet<>();
        int found = 0;
        int aside = 0;
        while (row.next()) {
            if (!row.getBoolean("is_guarded")) {
                throw new StoreException(
                        "The statements of the outbox must reach PostgreSQL as one transaction, which they do not with "
                                + "preferQueryMode=simple: leave it out of the JDBC URL",
                        null);
            }
            found = row.getInt("found");
            aside = row.getInt("aside");
            long lane = row.getLong("lane");
            if (!row.wasNull()) {
                lanes.computeIfAbsent(lane, it -> new ArrayList<>()).add(entry(row));
                if (row.getBoolean("taken_over")) {
                    takenOver.add(lane);
                }
            }
        }
        List<Run> runs = new ArrayList<>(lanes.size());
        lanes.forEach((lane, entries) -> runs.add(new Run(lease, lane, entries, takenOver.contains(lane))));
        return new Claimed(runs, found, aside);
    }

    private static Run.Entry entry(ResultSet row) throws SQLException {
        OutboxMessage message = new OutboxMessage(
                row.getObject("id", UUID.class),
                row.getString("topic"),
                row.getString("aggregate"),
                Headers.read(row.getString("headers")),
                row.getBytes("body"));
        Outgoing outgoing = new Outgoing(
                message, row.getObject("created_at", OffsetDateTime.class).toInstant(), row.getInt("attempt") + 1);
        return new Run.Entry(row.getLong("seq"), outgoing);
    }

    /** Removes what was published and says of the message that was not when it is tried again, if the lease is ours. */
    Finished finish(List<Run> runs) {
        return database.call(FINISH, finish -> {
            bindLeases(finish, 1, runs); // to hold
            bindLeases(finish, 4, runs); // mine
            bindPublished(finish, runs);
            bindSetbacks(finish, runs);
            bindLongs(finish, 16, runs, Run::lane); // lane, to advance
            Database.execute(finish);
            finish.getMoreResults();
            Set<Run> mine = new HashSet<>();
            try (ResultSet rows = finish.getResultSet()) {
                while (rows.next()) {
                    mine.add(runs.get(rows.getInt("number") - 1));
                }
            }
            finish.getMoreResults();
            return new Finished(mine, finish.getUpdateCount());
        });
    }

    private static void bindLeases(PreparedStatement finish, int index, List<Run> runs) throws SQLException {
        bindLongs(finish, index, runs, Run::lane); // lane
        bindLongs(finish, index + 1, runs, Run::head); // seq
        bind(finish, index + 2, "uuid", UUID[]::new, runs, run -> run.lease().token()); // token
    }

    private static void bindPublished(PreparedStatement finish, List<Run> runs) throws SQLException {
        record Place(long number, long seq) {}
        List<Place> published = new ArrayList<>();
        for (int i = 0; i < runs.size(); i++) {
            for (Run.Entry entry : runs.get(i).published()) {
                published.add(new Place(i + 1, entry.seq()));
            }
        }
        bindLongs(finish, 7, published, Place::number); // number
        bindLongs(finish, 8, published, Place::seq); // seq
    }

    private void bindSetbacks(PreparedStatement finish, List<Run> runs) throws SQLException {
        List<Run> stopped = new ArrayList<>();
        List<Long> numbers = new ArrayList<>();
        for (int i = 0; i < runs.size(); i++) {
            if (runs.get(i).setback() != null) {
                stopped.add(runs.get(i));
                numbers.add(i + 1L);
            }
        }
        bindLongs(finish, 9, numbers, Long::valueOf); // number
        bindLongs(finish, 10, stopped, run -> run.current().seq()); // seq
        bindLongs(finish, 11, stopped, this::laneAfter); // to_lane
        bind(finish, 12, "int4", Integer[]::new, stopped, run -> isParked(run) ? PARKED : 0); // to_state
        bind(
                finish,
                13,
                "int4",
                Integer[]::new,
                stopped,
                run -> run.current().outgoing().attempt()); // attempts
        bindLongs(finish, 14, stopped, OutboxTable::delay); // delay
        bind(
                finish,
                15,
                "text",
                String[]::new,
                stopped,
                run -> setback(run).reason().replace('\0', ' ')); // reason
    }

    /** A parked message that nobody is to wait for leaves its lane. */
    private Long laneAfter(Run run) {
        return isParked(run) && whenParked == WhenParked.GO_ON
                ? Lanes.ofItsOwn(run.current().outgoing().message().id())
                : run.lane();
    }

    private static boolean isParked(Run run) {
        return setback(run).retryIn() == null;
    }

    private static Long delay(Run run) {
        Duration retryIn = setback(run).retryIn();
        return retryIn == null ? 0L : retryIn.toMillis();
    }

    private static Run.Setback setback(Run run) {
        return Objects.requireNonNull(run.setback());
    }
}
