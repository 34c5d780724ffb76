package dev.hapax.postgres;

import dev.hapax.store.Fingerprint;
import dev.hapax.store.OperationId;
import dev.hapax.store.OperationKey;
import dev.hapax.store.Payload;
import dev.hapax.store.Result;
import dev.hapax.store.Snapshot;
import dev.hapax.store.State;
import dev.hapax.store.WhenAbandoned;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Between rows of {@code hapax_operation} and the values of the SPI. */
final class Rows {
    private static final List<State> STATES =
            List.of(State.PENDING, State.PROCESSING, State.COMPLETED, State.FAILED, State.IN_DOUBT);
    private static final List<WhenAbandoned> WHEN_ABANDONED =
            List.of(WhenAbandoned.RERUN, WhenAbandoned.FAIL, WhenAbandoned.PARK);

    /** The columns that {@link #read} reads, by their place: they come first. */
    static final String COLUMNS = """
            id, tenant, scope, key, state, fingerprint, token, attempt, owner, when_abandoned, \
            created_at, claimed_at, finished_at, deadline, code, headers, body, error, clock_timestamp() AS now, \
            forgiven, generation, retention_ms, window_ms""";

    private static final String FIND = "SELECT " + COLUMNS + " FROM hapax_operation WHERE id = ANY (?)";

    private Rows() {}

    static Map<OperationId, Snapshot> find(Session session, StatementSettings settings, Collection<OperationId> ids)
            throws SQLException {
        try (PreparedStatement select = session.prepare(settings, FIND)) {
            UUID[] values = ids.stream().map(OperationId::value).toArray(UUID[]::new);
            select.setArray(1, select.getConnection().createArrayOf("uuid", values));
            session.execute(settings, select);
            Map<OperationId, Snapshot> found = new HashMap<>();
            for (Snapshot snapshot : readAll(select.getResultSet())) {
                found.put(snapshot.id(), snapshot);
            }
            return found;
        }
    }

    static List<Snapshot> readAll(ResultSet rows) throws SQLException {
        List<Snapshot> snapshots = new ArrayList<>();
        try (rows) {
            while (rows.next()) {
                snapshots.add(read(rows));
            }
        }
        return snapshots;
    }

    static Snapshot read(ResultSet row) throws SQLException {
        State state = state(row.getInt(5));
        Instant deadline = instant(row, 14);
        return new Snapshot(
                new OperationId(row.getObject(1, UUID.class)), // id
                new OperationKey(row.getString(2), row.getString(3), row.getString(4)), // tenant, scope, key
                state,
                Fingerprint.ofDigest(row.getBytes(6)), // fingerprint
                row.getObject(7, UUID.class), // token
                new Snapshot.Attempts(row.getInt(8), row.getInt(20), row.getInt(21)), // attempt, forgiven, generation
                row.getString(9), // owner
                terms(row),
                new Snapshot.Times(instant(row, 11), instant(row, 12), finishedAt(row), deadline),
                Duration.between(instant(row, 19), deadline), // now
                state.isTerminal() ? result(row, state) : null);
    }

    private static Snapshot.Terms terms(ResultSet row) throws SQLException {
        Long window = row.getObject(23, Long.class); // window_ms
        return new Snapshot.Terms(
                WHEN_ABANDONED.get(row.getInt(10)), // when_abandoned
                Duration.ofMillis(row.getLong(22)), // retention_ms
                window == null ? null : Duration.ofMillis(window));
    }

    private static Result result(ResultSet row, State state) throws SQLException {
        int code = row.getInt(15); // code
        byte[] body = row.getBytes(17); // body
        Payload payload = body == null ? null : new Payload(code, row.getBytes(16), body); // headers
        return new Result(state, code, payload, row.getString(18)); // error
    }

    private static Instant instant(ResultSet row, int column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time.equals(OffsetDateTime.MAX) ? Instant.MAX : time.toInstant();
    }

    private static @Nullable Instant finishedAt(ResultSet row) throws SQLException {
        OffsetDateTime time = row.getObject(13, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }

    static @Nullable Long millis(@Nullable Duration duration) {
        return duration == null ? null : duration.toMillis();
    }

    static void bindMillis(PreparedStatement statement, int index, @Nullable Duration duration) throws SQLException {
        statement.setObject(index, millis(duration), Types.BIGINT);
    }

    static State state(int number) {
        return STATES.get(number);
    }

    /** What the column {@code state} holds. */
    static int number(State state) {
        return STATES.indexOf(state);
    }

    /** What the column {@code when_abandoned} holds. */
    static int number(WhenAbandoned whenAbandoned) {
        return WHEN_ABANDONED.indexOf(whenAbandoned);
    }

    /** Binds code, headers, body and error, beginning at {@code index}. */
    static void bindResult(PreparedStatement statement, int index, Result result) throws SQLException {
        statement.setInt(index, result.code());
        statement.setBytes(index + 1, headers(result));
        statement.setBytes(index + 2, body(result));
        statement.setString(index + 3, text(result.error()));
    }

    static byte @Nullable [] headers(Result result) {
        Payload payload = result.payload();
        return payload == null ? null : payload.headers();
    }

    static byte @Nullable [] body(Result result) {
        Payload payload = result.payload();
        return payload == null ? null : payload.body();
    }

    /** PostgreSQL's text cannot hold NUL, and an error's text is for people: never a reason to fail. */
    static @Nullable String text(@Nullable String value) {
        return value == null ? null : value.replace('\0', '\uFFFD');
    }
}
