package dev.hapax.postgres;

import dev.hapax.store.ExpiredLease;
import dev.hapax.store.OperationId;
import dev.hapax.store.OperationKey;
import dev.hapax.store.Result;
import dev.hapax.store.Swept;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * One round of sweeping, as one statement: what is due is locked, skipping what others hold, and gets what it is due.
 */
final class Sweep {
    private static final String SQL = """
            WITH due AS MATERIALIZED (
                SELECT ctid, state FROM hapax_operation
                WHERE deadline <= (SELECT clock_timestamp())
                ORDER BY deadline LIMIT ?
                FOR UPDATE SKIP LOCKED),
            removed AS (
                DELETE FROM hapax_operation
                WHERE ctid = ANY (ARRAY (SELECT ctid FROM due WHERE state IN (2, 3)))
                RETURNING id),
            forgotten AS (
                DELETE FROM hapax_event WHERE id = ANY (ARRAY (SELECT id FROM removed))),
            changed AS (
                UPDATE hapax_operation
                SET state = CASE WHEN state = 0 THEN 3 WHEN when_abandoned = 0 THEN 0 WHEN when_abandoned = 1 THEN 3
                                 ELSE 4 END,
                    token = gen_random_uuid(),
                    finished_at = CASE WHEN state = 0 OR when_abandoned = 1 THEN clock_timestamp() END,
                    deadline = CASE WHEN state = 1 AND when_abandoned = 2 THEN 'infinity'
                                    ELSE clock_timestamp() + retention_ms * interval '1 millisecond' END,
                    code = CASE WHEN state = 0 THEN ? WHEN when_abandoned = 1 THEN ? END,
                    error = CASE WHEN state = 0 THEN ? WHEN when_abandoned = 1 THEN ? END
                WHERE ctid = ANY (ARRAY (SELECT ctid FROM due WHERE state IN (0, 1)))
                RETURNING id, tenant, scope, key, attempt, owner, state, error,
                    CASE WHEN state = 0 THEN 'REOPENED' WHEN state = 4 THEN 'PARKED' WHEN code = ? THEN 'TIMED_OUT'
                         ELSE 'ABANDONED' END AS kind),
            told AS (
                INSERT INTO hapax_event (id, at, kind, attempt, actor, detail)
                SELECT id, clock_timestamp(), kind, attempt, 'sweeper', coalesce(error, 'was owned by ' || owner)
                FROM changed)
            SELECT 'REMOVED' AS kind, NULL AS id, NULL AS tenant, NULL AS scope, NULL AS key, count(*) AS attempt,
                   NULL AS owner, NULL AS state
            FROM removed
            UNION ALL
            SELECT kind, id, tenant, scope, key, attempt, owner, state FROM changed""";

    private Sweep() {}

    static Swept round(Session session, StatementSettings guard, int limit) throws SQLException {
        try (PreparedStatement statement = session.prepare(guard, SQL)) {
            statement.setInt(1, limit);
            statement.setInt(2, Result.TIMED_OUT);
            statement.setInt(3, Result.ABANDONED);
            statement.setString(4, Result.timedOut().error());
            statement.setString(5, Result.abandoned().error());
            statement.setInt(6, Result.TIMED_OUT);
            session.execute(guard, statement);
            try (ResultSet row = statement.getResultSet()) {
                return read(row);
            }
        }
    }

    private static Swept read(ResultSet row) throws SQLException {
        int removed = 0;
        int timedOut = 0;
        List<Swept.Reclaimed> reclaimed = new ArrayList<>();
        while (row.next()) {
            switch (row.getString("kind")) {
                case "REMOVED" -> removed = row.getInt("attempt");
                case "TIMED_OUT" -> timedOut++;
                default -> reclaimed.add(new Swept.Reclaimed(expiredLease(row), Rows.state(row.getInt("state"))));
            }
        }
        return new Swept(removed, timedOut, reclaimed);
    }

    private static ExpiredLease expiredLease(ResultSet row) throws SQLException {
        return new ExpiredLease(
                new OperationId(row.getObject("id", UUID.class)),
                new OperationKey(row.getString("tenant"), row.getString("scope"), row.getString("key")),
                row.getInt("attempt"),
                row.getString("owner"));
    }
}
