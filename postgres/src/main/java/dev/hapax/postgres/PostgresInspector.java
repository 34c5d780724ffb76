package dev.hapax.postgres;

import dev.hapax.store.OperationId;
import dev.hapax.store.Result;
import dev.hapax.store.Snapshot;
import dev.hapax.store.State;
import dev.hapax.store.StoreInspector;
import dev.hapax.store.StoreInspector.Event.Kind;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Looks into a {@link PostgresStore}. Blocking; safe for use by many threads.
 *
 * <p>A search for {@link State#IN_DOUBT} alone is indexed, with any other conditions: it reads the parked operations
 * only, since they are the ones without a deadline. All other searches, those for {@link State#PROCESSING} and
 * {@link State#PENDING} too, read the whole table and sort what fits: the table has no index for them, because every
 * index would make every claim and every result slower.
 */
public final class PostgresInspector implements StoreInspector {
    private static final String SEARCH = "SELECT " + Rows.COLUMNS + """
             FROM hapax_operation
            WHERE %s (?::text IS NULL OR tenant = ?) AND (?::text IS NULL OR scope = ?)
              AND (?::text IS NULL OR starts_with(key, ?))
              AND (cardinality(?::int[]) = 0 OR state = ANY (?))
              AND created_at <= clock_timestamp() - ? * interval '1 millisecond'
            ORDER BY created_at DESC LIMIT ?""";

    private static final String SEARCH_ALL = SEARCH.formatted("");
    private static final String SEARCH_PARKED = SEARCH.formatted("deadline = 'infinity' AND");

    private static final String EVENTS =
            "SELECT at, kind, attempt, actor, detail FROM hapax_event WHERE id = ? AND at >= ? ORDER BY at";

    private static final String FORCE_RELEASE = """
            WITH released AS (
                UPDATE hapax_operation
                SET state = 0, token = gen_random_uuid(), error = ?, forgiven = attempt,
                    deadline = clock_timestamp() + retention_ms * interval '1 millisecond'
                WHERE id = ? AND token = ? AND state IN (1, 4)
                RETURNING id, attempt, error)
            INSERT INTO hapax_event (id, at, kind, attempt, actor, detail)
            SELECT id, clock_timestamp(), 'FORCE_RELEASED', attempt, ?, error FROM released""";

    private static final String RESOLVE = """
            WITH resolved AS (
                UPDATE hapax_operation
                SET state = ?, token = gen_random_uuid(), finished_at = clock_timestamp(), window_ms = NULL,
                    deadline = clock_timestamp() + ? * interval '1 millisecond',
                    code = ?, headers = ?, body = ?, error = ?
                WHERE id = ? AND state = 4
                RETURNING id, attempt, state)
            INSERT INTO hapax_event (id, at, kind, attempt, actor, detail)
            SELECT id, clock_timestamp(), 'RESOLVED', attempt, ?, CASE state WHEN 2 THEN 'COMPLETED' ELSE 'FAILED' END
            FROM resolved""";

    private final Sessions sessions;
    private final StatementSettings guard;

    PostgresInspector(Sessions sessions, StatementSettings guard) {
        this.sessions = sessions;
        this.guard = guard;
    }

    @Override
    public List<Snapshot> search(Search search) {
        return search.states().equals(Set.of(State.IN_DOUBT))
                ? search(search, guard, SEARCH_PARKED)
                : search(search, StatementSettings.NONE, SEARCH_ALL);
    }

    private List<Snapshot> search(Search search, StatementSettings plan, String sql) {
        return sessions.call(session -> {
            try (PreparedStatement select = session.prepare(plan, sql)) {
                Integer[] states = search.states().stream().map(Rows::number).toArray(Integer[]::new);
                select.setString(1, search.tenant()); // tenant
                select.setString(2, search.tenant()); // tenant
                select.setString(3, search.scope()); // scope
                select.setString(4, search.scope()); // scope
                select.setString(5, search.keyPrefix()); // key
                select.setString(6, search.keyPrefix()); // key
                select.setArray(7, select.getConnection().createArrayOf("int4", states)); // state
                select.setArray(8, select.getConnection().createArrayOf("int4", states)); // state
                select.setLong(9, search.olderThan().toMillis()); // created_at
                select.setInt(10, search.limit());
                session.execute(plan, select);
                return Rows.readAll(select.getResultSet());
            }
        });
    }

    @Override
    public Optional<Snapshot> find(OperationId id) {
        return sessions.call(session -> find(session, id));
    }

    private Optional<Snapshot> find(Session session, OperationId id) throws SQLException {
        return Optional.ofNullable(Rows.find(session, guard, Set.of(id)).get(id));
    }

    @Override
    public List<Event> timeline(OperationId id) {
        return sessions.call(session -> {
            Snapshot found = find(session, id).orElse(null);
            return found == null ? List.of() : timeline(found, events(session, found));
        });
    }

    /** The row tells when the operation began, was claimed last and ended; the events tell what else happened. */
    private static List<Event> timeline(Snapshot found, List<Event> events) {
        Snapshot.Times times = found.times();
        List<Event> all = new ArrayList<>(events);
        all.add(new Event(times.createdAt(), Kind.CREATED, 1, found.key().tenant(), null));
        boolean claimIsAnEvent = events.stream().anyMatch(e -> e.kind() == Kind.TAKEN_OVER || e.kind() == Kind.CLAIMED);
        if (!claimIsAnEvent) {
            all.add(new Event(times.claimedAt(), Kind.CLAIMED, found.attempt(), found.owner(), null));
        }
        Instant finishedAt = times.finishedAt();
        boolean endIsAnEvent = events.stream()
                .anyMatch(e -> e.kind() == Kind.RESOLVED || e.kind() == Kind.ABANDONED || e.kind() == Kind.TIMED_OUT);
        if (finishedAt != null && !endIsAnEvent) {
            Kind kind = found.state() == State.COMPLETED ? Kind.COMPLETED : Kind.FAILED;
            Result result = found.result();
            all.add(new Event(
                    finishedAt, kind, found.attempt(), found.owner(), result == null ? null : result.error()));
        }
        all.sort(Comparator.comparing(Event::at));
        return List.copyOf(all);
    }

    /** Those of the operation as it is now: what stood under its id before it was begun anew is another one. */
    private List<Event> events(Session session, Snapshot found) throws SQLException {
        List<Event> events = new ArrayList<>();
        try (PreparedStatement select = session.prepare(guard, EVENTS)) {
            select.setObject(1, found.id().value()); // id
            select.setObject(2, found.times().createdAt().atOffset(ZoneOffset.UTC)); // at
            session.execute(guard, select);
            try (ResultSet row = select.getResultSet()) {
                while (row.next()) {
                    events.add(new Event(
                            row.getObject("at", OffsetDateTime.class).toInstant(),
                            Kind.valueOf(row.getString("kind")),
                            row.getInt("attempt"),
                            row.getString("actor"),
                            row.getString("detail")));
                }
            }
        }
        return events;
    }

    @Override
    public Optional<Snapshot> forceRelease(OperationId id, UUID seen, String who, String why) {
        return change(id, FORCE_RELEASE, (statement, operation) -> {
            statement.setString(1, Rows.text(why)); // error
            statement.setObject(2, operation.value()); // id
            statement.setObject(3, seen); // token
            statement.setString(4, Rows.text(who)); // actor
        });
    }

    @Override
    public Optional<Snapshot> resolve(OperationId id, Result result, Duration retention, String who) {
        return change(id, RESOLVE, (statement, operation) -> {
            statement.setInt(1, Rows.number(result.state())); // state
            statement.setLong(2, retention.toMillis()); // deadline
            Rows.bindResult(statement, 3, result); // code, headers, body, error
            statement.setObject(7, operation.value()); // id
            statement.setString(8, Rows.text(who)); // actor
        });
    }

    private Optional<Snapshot> change(OperationId id, String sql, Statements.Binder<OperationId> binder) {
        return sessions.call(session ->
                Statements.update(session, guard, sql, binder, id) == 0 ? Optional.empty() : find(session, id));
    }
}
