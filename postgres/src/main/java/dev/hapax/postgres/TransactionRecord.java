package dev.hapax.postgres;

import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.Finish;
import dev.hapax.store.OperationKey;
import dev.hapax.store.Snapshot;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * The finished row that transactional mode writes, once, in the transaction of the effect.
 *
 * @param replaced the row that the claim found; {@code null} if there was none
 */
record TransactionRecord(
        ClaimRequest request, Claim.Won won, @Nullable Snapshot replaced, Finish finish) {
    private static final String INSERT = """
            INSERT INTO hapax_operation AS o (id, tenant, scope, key, fingerprint, token, owner, when_abandoned,
                retention_ms, window_ms, attempt, generation, state, deadline, code, headers, body, error,
                created_at, claimed_at, finished_at)
            VALUES (%s, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, clock_timestamp() + ? * interval '1 millisecond', ?, ?, ?, ?,
                now(), now(), clock_timestamp())
            """;

    private static final String INSERT_ONCE = INSERT.formatted("?") + "ON CONFLICT (id) DO NOTHING";

    /**
     * Writes over the row only as the claim found it. A row that has been swept since is inserted again: nobody else
     * has claimed it. One that was reopened since, by the sweeper or an operator, has no owner either, and as long as
     * no attempt was counted meanwhile nothing has run. The events of an operation that was over go with it.
     */
    private static final String REPLACE = """
            WITH forgotten AS (DELETE FROM hapax_event WHERE ? AND id = ?)
            """ + INSERT.formatted("?") + """
            ON CONFLICT (id) DO UPDATE
            SET fingerprint = excluded.fingerprint, token = excluded.token, owner = excluded.owner,
                when_abandoned = excluded.when_abandoned, retention_ms = excluded.retention_ms,
                window_ms = excluded.window_ms, attempt = excluded.attempt, generation = excluded.generation,
                forgiven = CASE WHEN o.state IN (2, 3) THEN 0 ELSE o.forgiven END,
                created_at = CASE WHEN o.state IN (2, 3) THEN excluded.created_at ELSE o.created_at END,
                claimed_at = excluded.claimed_at, finished_at = excluded.finished_at, state = excluded.state,
                deadline = excluded.deadline, code = excluded.code, headers = excluded.headers, body = excluded.body,
                error = excluded.error
            WHERE (o.id = ? AND o.token = ? AND o.state = ? AND (o.state <> 1 OR o.deadline <= clock_timestamp()))
               OR (? AND o.attempt = ? AND o.state = 0 AND o.generation = excluded.generation
                   AND o.fingerprint = excluded.fingerprint)""";

    /** Without an id, and so refused, unless this is still the transaction of the claim. */
    private static final String INSERT_WITHIN_CLAIM =
            INSERT.formatted("CASE current_setting('hapax.record', true) WHEN ? THEN ?::uuid END");

    private static final String INSERT_ONCE_WITHIN_CLAIM = INSERT_WITHIN_CLAIM + "ON CONFLICT (id) DO NOTHING";

    /**
     * A row that is in the way is an error too: either undoes the effect, because nothing is executed that was sent
     * after an error.
     */
    private static final String INSERT_AND_COMMIT = INSERT_WITHIN_CLAIM + "; COMMIT";

    /**
     * Writes the row.
     *
     * @return whether it was written: not if somebody else has claimed the operation since
     */
    boolean write(Connection connection) throws SQLException {
        return replaced == null ? insert(connection) : replace(connection, replaced);
    }

    private boolean insert(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(INSERT_ONCE)) {
            bind(statement, 1);
            return statement.executeUpdate() == 1;
        }
    }

    private boolean replace(Connection connection, Snapshot found) throws SQLException {
        return IndexPlans.update(connection, REPLACE, statement -> {
                    statement.setBoolean(1, found.state().isTerminal());
                    statement.setObject(2, found.id().value()); // id
                    int next = bind(statement, 3);
                    next = ClaimBatch.bindObserved(statement, next, found);
                    statement.setBoolean(next, !found.state().isTerminal());
                    statement.setInt(next + 1, found.attempt()); // attempt, as it was seen
                })
                == 1;
    }

    /**
     * Writes a first row later than its effect.
     *
     * @return whether it was written: not if somebody else has claimed the operation since
     * @throws SQLException that says that a column got no value, if the transaction is no longer that of the claim
     */
    boolean insertWithinClaim(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(INSERT_ONCE_WITHIN_CLAIM)) {
            bindWithinClaim(statement);
            return statement.executeUpdate() == 1;
        }
    }

    /** Writes a first row and commits, in one round trip; fails, and the transaction with it, if it cannot. */
    void insertAndCommit(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(INSERT_AND_COMMIT)) {
            bindWithinClaim(statement);
            statement.execute();
        }
    }

    private void bindWithinClaim(PreparedStatement statement) throws SQLException {
        statement.setString(1, request.token().toString()); // hapax.record
        bind(statement, 2);
    }

    /** @return the next free index */
    private int bind(PreparedStatement statement, int index) throws SQLException {
        OperationKey key = request.key();
        statement.setObject(index, request.id().value()); // id
        statement.setString(index + 1, key.tenant()); // tenant
        statement.setString(index + 2, key.scope()); // scope
        statement.setString(index + 3, key.key()); // key
        statement.setBytes(index + 4, request.fingerprint().digest()); // fingerprint
        statement.setObject(index + 5, request.token()); // token
        statement.setString(index + 6, Rows.text(request.owner())); // owner
        statement.setInt(index + 7, Rows.number(request.terms().whenAbandoned())); // when_abandoned
        statement.setLong(index + 8, request.terms().retention().toMillis()); // retention_ms
        Rows.bindMillis(statement, index + 9, request.terms().window()); // window_ms
        statement.setInt(index + 10, won.attempt()); // attempt
        statement.setInt(index + 11, won.generation()); // generation
        statement.setInt(index + 12, Rows.number(finish.result().state())); // state
        statement.setLong(index + 13, finish.retention().toMillis()); // deadline
        Rows.bindResult(statement, index + 14, finish.result()); // code, headers, body, error
        return index + 18;
    }
}
