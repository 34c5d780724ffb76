package dev.hapax.postgres;

import dev.hapax.store.Finish;
import dev.hapax.store.OperationId;
import dev.hapax.store.Payload;
import dev.hapax.store.Release;
import dev.hapax.store.Result;
import dev.hapax.store.Snapshot;
import dev.hapax.store.State;
import dev.hapax.store.Written;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The writes of an owner: finish and release. Each matches id, token and state, so a stale owner changes nothing.
 *
 * <p>A write that changed nothing may have been made before, and its answer lost: then the row still carries the
 * sender's token in the state that the write leads to. Whoever else changes a row replaces its token, so nobody can
 * mistake that.
 */
final class OwnerWriteBatch<Q> implements BatchWork<Q, Written> {
    private static final String FINISH_ONE = """
            UPDATE hapax_operation
            SET state = ?, finished_at = clock_timestamp(),
                deadline = clock_timestamp() + ? * interval '1 millisecond',
                code = ?, headers = ?, body = ?, error = ?
            WHERE id = ? AND token = ? AND state = 1""";

    private static final String FINISH_BATCH = """
            UPDATE hapax_operation AS o
            SET state = f.state, finished_at = clock_timestamp(),
                deadline = clock_timestamp() + f.retention_ms * interval '1 millisecond',
                code = f.code, headers = f.headers, body = f.body, error = f.error
            FROM unnest(?::uuid[], ?::uuid[], ?::int4[], ?::int8[], ?::int4[], ?::bytea[], ?::bytea[], ?::text[])
                AS f (id, token, state, retention_ms, code, headers, body, error)
            WHERE o.id = f.id AND o.token = f.token AND o.state = 1
            RETURNING o.token""";

    private static final String RELEASE = """
            WITH released AS (
                UPDATE hapax_operation AS o
                SET state = r.state, attempt = o.attempt - r.uncounted, error = r.reason,
                    deadline = CASE r.state WHEN 4 THEN 'infinity'
                        ELSE clock_timestamp() + r.pending_ms * interval '1 millisecond' END
                FROM unnest(?::uuid[], ?::uuid[], ?::int4[], ?::int4[], ?::int8[], ?::text[])
                    AS r (id, token, state, uncounted, pending_ms, reason)
                WHERE o.id = r.id AND o.token = r.token AND o.state = 1
                RETURNING o.id, o.token, o.state, o.attempt + r.uncounted AS attempt, o.owner, o.error),
            told AS (
                INSERT INTO hapax_event (id, at, kind, attempt, actor, detail)
                SELECT id, clock_timestamp(), CASE state WHEN 4 THEN 'PARKED' ELSE 'RELEASED' END, attempt, owner, error
                FROM released)
            SELECT token FROM released""";

    private static final Decision<Written> RECORDED = Decision.answer(Written.RECORDED);
    private static final Decision<Written> CLAIM_LOST = Decision.answer(Written.CLAIM_LOST);

    private final Waiting shortWait;
    private final Waiting noWait;
    private final Duration lockWaitTimeout;
    private final Kind<Q> kind;

    /** One way of waiting for locks. */
    private record Waiting(StatementSettings batch, StatementSettings single) {
        Waiting(Duration lockTimeout) {
            this(StatementSettings.byKey(lockTimeout), StatementSettings.byOneKey(lockTimeout));
        }
    }

    /**
     * What one kind of write is.
     *
     * @param batchSql the statement for any number of them, which returns the tokens of those that changed something
     * @param single a faster statement for one of them, if there is one
     * @param leadsTo whether a write leads to a state
     * @param weight how many bytes it brings along
     */
    private record Kind<Q>(
            Function<Q, OperationId> id,
            Function<Q, UUID> token,
            String batchSql,
            Columns<Q> columns,
            @Nullable Single<Q> single,
            BiPredicate<Q, State> leadsTo,
            ToIntFunction<Q> weight) {}

    private record Single<Q>(String sql, Statements.Binder<Q> binder) {}

    private OwnerWriteBatch(Duration lockTimeout, Duration lockWaitTimeout, Kind<Q> kind) {
        this.lockWaitTimeout = lockWaitTimeout;
        this.kind = kind;
        shortWait = new Waiting(lockTimeout);
        noWait = new Waiting(Duration.ofMillis(1));
    }

    static OwnerWriteBatch<Finish> finish(Duration lockTimeout, Duration lockWaitTimeout) {
        Columns<Finish> columns = new Columns<Finish>()
                .uuid(finish -> finish.id().value()) // id
                .uuid(Finish::token) // token
                .int4(finish -> Rows.number(finish.result().state())) // state
                .int8(finish -> finish.retention().toMillis()) // retention_ms
                .int4(finish -> finish.result().code()) // code
                .bytea(finish -> Rows.headers(finish.result())) // headers
                .bytea(finish -> Rows.body(finish.result())) // body
                .text(finish -> Rows.text(finish.result().error())); // error
        Single<Finish> single = new Single<>(FINISH_ONE, OwnerWriteBatch::bindFinish);
        return new OwnerWriteBatch<>(
                lockTimeout,
                lockWaitTimeout,
                new Kind<>(
                        Finish::id,
                        Finish::token,
                        FINISH_BATCH,
                        columns,
                        single,
                        (finish, state) -> state.isTerminal(),
                        finish -> weight(finish.result())));
    }

    static OwnerWriteBatch<Release> release(Duration lockTimeout, Duration lockWaitTimeout) {
        Columns<Release> columns = new Columns<Release>()
                .uuid(release -> release.id().value()) // id
                .uuid(Release::token) // token
                .int4(release -> Rows.number(release.kind().leadsTo())) // state
                .int4(release -> release.kind().uncounted()) // uncounted
                .int8(release -> release.pendingFor().toMillis()) // pending_ms
                .text(release -> Rows.text(release.reason())); // reason
        return new OwnerWriteBatch<>(
                lockTimeout,
                lockWaitTimeout,
                new Kind<>(
                        Release::id,
                        Release::token,
                        RELEASE,
                        columns,
                        null,
                        (release, state) -> state == release.kind().leadsTo(),
                        release -> 0));
    }

    @Override
    public OperationId id(Q request) {
        return kind.id().apply(request);
    }

    @Override
    public int weight(Q request) {
        return kind.weight().applyAsInt(request);
    }

    private static int weight(Result result) {
        Payload payload = result.payload();
        return payload == null ? 0 : payload.headers().length + payload.body().length;
    }

    @Override
    public Duration lockWaitTimeout(Q request) {
        return lockWaitTimeout;
    }

    @Override
    public List<Decision<Written>> run(Session session, LockWait wait, List<Q> requests) throws SQLException {
        Waiting waiting = wait == LockWait.SHORT ? shortWait : noWait;
        Set<UUID> written = write(session, waiting, requests);
        if (written.size() == requests.size()) {
            return Collections.nCopies(requests.size(), RECORDED);
        }
        List<Q> unchanged = requests.stream()
                .filter(request -> !written.contains(token(request)))
                .toList();
        Map<OperationId, Snapshot> found = unchanged.isEmpty()
                ? Map.of()
                : Rows.find(
                        session,
                        waiting.batch(),
                        unchanged.stream().map(this::id).collect(Collectors.toSet()));
        return requests.stream()
                .map(request -> written.contains(token(request)) || madeBefore(request, found.get(id(request)))
                        ? RECORDED
                        : CLAIM_LOST)
                .toList();
    }

    /** @return the tokens of those that changed something */
    private Set<UUID> write(Session session, Waiting waiting, List<Q> requests) throws SQLException {
        Single<Q> single = kind.single();
        if (single == null || requests.size() > 1) {
            return kind.columns().run(session, waiting.batch(), kind.batchSql(), requests);
        }
        Q request = requests.get(0);
        int count = Statements.update(session, waiting.single(), single.sql(), single.binder(), request);
        return count == 1 ? Set.of(token(request)) : Set.of();
    }

    private boolean madeBefore(Q request, @Nullable Snapshot row) {
        return row != null
                && row.token().equals(token(request))
                && kind.leadsTo().test(request, row.state());
    }

    private UUID token(Q request) {
        return kind.token().apply(request);
    }

    private static void bindFinish(PreparedStatement statement, Finish finish) throws SQLException {
        statement.setInt(1, Rows.number(finish.result().state())); // state
        statement.setLong(2, finish.retention().toMillis()); // deadline
        Rows.bindResult(statement, 3, finish.result()); // code, headers, body, error
        statement.setObject(7, finish.id().value()); // id
        statement.setObject(8, finish.token()); // token
    }
}
