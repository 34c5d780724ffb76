package dev.hapax.postgres;

import dev.hapax.store.Finish;
import dev.hapax.store.OperationId;
import dev.hapax.store.Release;
import dev.hapax.store.Renewal;
import dev.hapax.store.Snapshot;
import dev.hapax.store.State;
import dev.hapax.store.Written;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The writes of an owner: finish, release, renew. Each matches id, token and state, so a stale owner changes nothing.
 *
 * <p>A write that changed nothing may have been made before, and its answer lost: then the row still carries the
 * sender's token in the state that the write leads to. Whoever else changes a row replaces its token, so nobody can
 * mistake that.
 */
final class OwnerWork<Q> implements Lane.Work<Q, Written> {
    private static final String FINISH = """
            UPDATE hapax_operation
            SET state = ?, finished_at = clock_timestamp(),
                deadline = clock_timestamp() + ? * interval '1 millisecond',
                code = ?, headers = ?, body = ?, error = ?
            WHERE id = ? AND token = ? AND state = 1""";

    private static final String RELEASE = """
            WITH released AS (
                UPDATE hapax_operation
                SET state = 0, deadline = clock_timestamp() + ? * interval '1 millisecond', error = ?
                WHERE id = ? AND token = ? AND state = 1
                RETURNING id, attempt, owner, error)
            INSERT INTO hapax_event (id, at, kind, attempt, actor, detail)
            SELECT id, clock_timestamp(), 'RELEASED', attempt, owner, error FROM released""";

    private static final String RENEW = """
            UPDATE hapax_operation SET deadline = clock_timestamp() + ? * interval '1 millisecond'
            WHERE id = ? AND token = ? AND state = 1""";

    private final String sql;
    private final Statements.Binder<Q> binder;
    private final Function<Q, OperationId> id;
    private final Function<Q, UUID> token;
    private final Predicate<State> madeBefore;

    private OwnerWork(
            String sql,
            Statements.Binder<Q> binder,
            Function<Q, OperationId> id,
            Function<Q, UUID> token,
            Predicate<State> madeBefore) {
        this.sql = sql;
        this.binder = binder;
        this.id = id;
        this.token = token;
        this.madeBefore = madeBefore;
    }

    static OwnerWork<Finish> finish() {
        return new OwnerWork<>(FINISH, OwnerWork::bindFinish, Finish::id, Finish::token, State::isTerminal);
    }

    static OwnerWork<Release> release() {
        return new OwnerWork<>(
                RELEASE, OwnerWork::bindRelease, Release::id, Release::token, state -> state == State.PENDING);
    }

    static OwnerWork<Renewal> renew() {
        return new OwnerWork<>(
                RENEW, OwnerWork::bindRenew, Renewal::id, Renewal::token, state -> state == State.PROCESSING);
    }

    @Override
    public OperationId id(Q request) {
        return id.apply(request);
    }

    @Override
    public List<Written> run(Session session, Session.Guard guard, List<Q> requests) throws SQLException {
        int[] counts = Statements.updateAll(session, guard, sql, binder, requests);
        Written[] answers = new Written[counts.length];
        Set<OperationId> unchanged = new HashSet<>();
        for (int i = 0; i < counts.length; i++) {
            answers[i] = Written.RECORDED;
            if (counts[i] == 0) {
                unchanged.add(id(requests.get(i)));
            }
        }
        if (!unchanged.isEmpty()) {
            Map<OperationId, Snapshot> found = Rows.find(session, guard, unchanged);
            for (int i = 0; i < counts.length; i++) {
                answers[i] = counts[i] == 0 ? look(requests.get(i), found) : answers[i];
            }
        }
        return Arrays.asList(answers);
    }

    private Written look(Q request, Map<OperationId, Snapshot> found) {
        Snapshot row = found.get(id(request));
        boolean made = row != null && row.token().equals(token.apply(request)) && madeBefore.test(row.state());
        return made ? Written.RECORDED : Written.CLAIM_LOST;
    }

    private static void bindFinish(PreparedStatement statement, Finish finish) throws SQLException {
        statement.setInt(1, Rows.number(finish.result().state())); // state
        statement.setLong(2, finish.retention().toMillis()); // deadline
        Rows.bindResult(statement, 3, finish.result()); // code, headers, body, error
        statement.setObject(7, finish.id().value()); // id
        statement.setObject(8, finish.token()); // token
    }

    private static void bindRelease(PreparedStatement statement, Release release) throws SQLException {
        statement.setLong(1, release.pendingFor().toMillis()); // deadline
        statement.setString(2, Rows.text(release.reason())); // error
        statement.setObject(3, release.id().value()); // id
        statement.setObject(4, release.token()); // token
    }

    private static void bindRenew(PreparedStatement statement, Renewal renewal) throws SQLException {
        statement.setLong(1, renewal.lease().toMillis()); // deadline
        statement.setObject(2, renewal.id().value()); // id
        statement.setObject(3, renewal.token()); // token
    }
}
