package dev.hapax.postgres;

import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.ClaimTerms;
import dev.hapax.store.OperationId;
import dev.hapax.store.Ruling;
import dev.hapax.store.Snapshot;
import dev.hapax.store.State;
import dev.hapax.store.StoreInspector.Event.Kind;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * Decides claims: each inserts its row, and the one that inserted it has won. Only the others read the row that was
 * there already. While the {@link ReplayRatio} is high, claims read before they insert, and only those that find
 * nothing insert: a replay then costs one read.
 *
 * <p>The look is a statement of its own, after the insert's transaction: it sees what was committed in between. What it
 * finds is ruled on by {@link Ruling}, and what that asks for is written only if the row is still as it was seen. If it
 * is not, or has gone since, the next look tells; after a few looks the claim counts as contended and comes back later.
 */
final class ClaimBatch implements BatchWork<ClaimRequest, Claim> {
    private static final int MAX_READS = 5;

    private static final String INTO = """
            INSERT INTO hapax_operation (id, tenant, scope, key, state, fingerprint, token, attempt, owner,
                when_abandoned, retention_ms, window_ms, created_at, claimed_at, deadline)
            """;

    /** The insert finds what is in its way by the key, whatever the plan: all it needs is a lock timeout. */
    private static final String SINGLE_SQL = INTO + """
            VALUES (?, ?, ?, ?, 1, ?, ?, 1, ?, ?, ?, ?, clock_timestamp(), clock_timestamp(),
                clock_timestamp() + ? * interval '1 millisecond')
            ON CONFLICT (id) DO NOTHING""";

    /** Where one operation is claimed twice, the first claim wins. */
    private static final String BATCH_SQL = INTO + """
            SELECT id, tenant, scope, key, 1, fingerprint, token, 1, owner, when_abandoned, retention_ms, window_ms,
                clock_timestamp(), clock_timestamp(), clock_timestamp() + lease_ms * interval '1 millisecond'
            FROM unnest(?::uuid[], ?::text[], ?::text[], ?::text[], ?::bytea[], ?::uuid[], ?::text[], ?::int4[],
                    ?::int8[], ?::int8[], ?::int8[]) AS claim (id, tenant, scope, key, fingerprint, token, owner,
                    when_abandoned, retention_ms, window_ms, lease_ms)
            ON CONFLICT (id) DO NOTHING
            RETURNING token""";

    private static final Columns<ClaimRequest> COLUMNS = new Columns<ClaimRequest>()
            .uuid(claim -> claim.id().value()) // id
            .text(claim -> claim.key().tenant()) // tenant
            .text(claim -> claim.key().scope()) // scope
            .text(claim -> claim.key().key()) // key
            .bytea(claim -> claim.fingerprint().digest()) // fingerprint
            .uuid(ClaimRequest::token) // token
            .text(claim -> Rows.text(claim.owner())) // owner
            .int4(claim -> Rows.number(claim.terms().whenAbandoned())) // when_abandoned
            .int8(claim -> claim.terms().retention().toMillis()) // retention_ms
            .int8(claim -> Rows.millis(claim.terms().window())) // window_ms
            .int8(claim -> claim.terms().lease().toMillis()); // lease_ms

    private static final String RESUME = """
            UPDATE hapax_operation SET deadline = clock_timestamp() + ? * interval '1 millisecond'
            WHERE id = ? AND token = ? AND state = ?""";

    private static final String TAKE_OVER = """
            WITH taken AS (
                UPDATE hapax_operation
                SET state = 1, attempt = attempt + 1, token = ?, owner = ?, when_abandoned = ?, retention_ms = ?,
                    window_ms = ?, claimed_at = clock_timestamp(), deadline = clock_timestamp() + ? * interval '1 millisecond',
                    error = NULL
                WHERE id = ? AND token = ? AND state = ? AND (state = 0 OR deadline <= clock_timestamp())
                RETURNING id, attempt, owner)
            INSERT INTO hapax_event (id, at, kind, attempt, actor, detail)
            SELECT id, clock_timestamp(), ?, attempt, owner, ? FROM taken""";

    private static final String BEGIN_ANEW = """
            WITH begun AS (
                UPDATE hapax_operation
                SET state = 1, attempt = 1, forgiven = 0, generation = generation + 1, token = ?, owner = ?, when_abandoned = ?, retention_ms = ?,
                    window_ms = ?, claimed_at = clock_timestamp(), deadline = clock_timestamp() + ? * interval '1 millisecond',
                    fingerprint = ?, created_at = clock_timestamp(), finished_at = NULL,
                    code = NULL, headers = NULL, body = NULL, error = NULL
                WHERE id = ? AND token = ? AND state = ?
                RETURNING id, attempt, owner),
            forgotten AS (
                DELETE FROM hapax_event WHERE id = ANY (ARRAY (SELECT id FROM begun)))
            INSERT INTO hapax_event (id, at, kind, attempt, actor, detail)
            SELECT id, clock_timestamp(), 'BEGUN_ANEW', attempt, owner, 'the operation before it was over'
            FROM begun""";

    static final String FAIL = """
            WITH ended AS (
                UPDATE hapax_operation
                SET state = 3, token = gen_random_uuid(), finished_at = clock_timestamp(),
                    deadline = clock_timestamp() + retention_ms * interval '1 millisecond', code = ?, error = ?
                WHERE id = ? AND token = ? AND state = ? AND (state = 0 OR deadline <= clock_timestamp())
                RETURNING id, attempt, owner, error)
            INSERT INTO hapax_event (id, at, kind, attempt, actor, detail)
            SELECT id, clock_timestamp(), 'ABANDONED', attempt, owner, error FROM ended""";

    static final String PARK = """
            WITH parked AS (
                UPDATE hapax_operation
                SET state = 4, token = gen_random_uuid(), deadline = 'infinity'
                WHERE id = ? AND token = ? AND state = ? AND (state = 0 OR deadline <= clock_timestamp())
                RETURNING id, attempt, owner)
            INSERT INTO hapax_event (id, at, kind, attempt, actor, detail)
            SELECT id, clock_timestamp(), 'PARKED', attempt, owner, NULL FROM parked""";

    private static final Decision<Claim> FIRST = Decision.answer(new Claim.Won(1));
    private static final Waiting NO_WAIT = new Waiting(Duration.ofMillis(1));

    private final Waiting shortWait;
    private final ReplayRatio replayRatio;

    /** One way of waiting for locks. */
    private record Waiting(StatementSettings insert, StatementSettings byKey) {
        Waiting(Duration lockTimeout) {
            this(StatementSettings.lockTimeoutOnly(lockTimeout), StatementSettings.byKey(lockTimeout));
        }
    }

    ClaimBatch(Duration lockTimeout, ReplayRatio replayRatio) {
        this.replayRatio = replayRatio;
        shortWait = new Waiting(lockTimeout);
    }

    @Override
    public OperationId id(ClaimRequest request) {
        return request.id();
    }

    /** Before the handler runs, so that its caller learns in time that its transaction and the claim are two things. */
    @Override
    public boolean isRefusedInOpenTransaction() {
        return true;
    }

    @Override
    public Duration lockWaitTimeout(ClaimRequest request) {
        return request.timeout();
    }

    @Override
    public List<Decision<Claim>> run(Session session, LockWait wait, List<ClaimRequest> requests) throws SQLException {
        Waiting waiting = wait == LockWait.SHORT ? shortWait : NO_WAIT;
        List<Decision<Claim>> decisions = replayRatio.isHigh()
                ? decide(session, waiting, requests, new HashMap<>())
                : insertFirst(session, waiting, requests);
        replayRatio.learn(decisions);
        return decisions;
    }

    private static List<Decision<Claim>> insertFirst(Session session, Waiting waiting, List<ClaimRequest> requests)
            throws SQLException {
        if (requests.size() == 1 && insertOne(session, waiting, requests.get(0))) {
            return List.of(FIRST);
        }
        Map<UUID, Decision<Claim>> decisions = new HashMap<>();
        if (requests.size() > 1) {
            insert(session, waiting, requests, decisions);
        }
        return decide(session, waiting, requests, decisions);
    }

    /**
     * A lock that is met here leaves only the claims that it concerns undecided: those that inserted their rows have
     * won.
     *
     * @param decisions those that are known already, by the claims' tokens
     */
    private static List<Decision<Claim>> decide(
            Session session, Waiting waiting, List<ClaimRequest> requests, Map<UUID, Decision<Claim>> decisions)
            throws SQLException {
        for (int reads = 0; reads < MAX_READS; reads++) {
            List<ClaimRequest> open = requests.stream()
                    .filter(request -> !decisions.containsKey(request.token()))
                    .toList();
            if (open.isEmpty()) {
                break;
            }
            try {
                read(session, waiting, open, decisions);
            } catch (SQLException e) {
                leaveLocked(open, e, decisions);
            }
        }
        for (ClaimRequest request : requests) {
            decisions.computeIfAbsent(request.token(), token -> keptChanging());
        }
        return requests.stream().map(request -> decisions.get(request.token())).toList();
    }

    /** @throws SQLException when it was not a lock that kept them from being decided */
    private static void leaveLocked(List<ClaimRequest> open, SQLException e, Map<UUID, Decision<Claim>> decisions)
            throws SQLException {
        if (!SqlErrors.isContention(e)) {
            throw e;
        }
        open.forEach(request -> decisions.putIfAbsent(request.token(), new Decision.Locked<>(e)));
    }

    private static Decision<Claim> keptChanging() {
        return new Decision.Locked<>(new SQLException("an operation kept changing while it was claimed", "40001"));
    }

    private static boolean insertOne(Session session, Waiting waiting, ClaimRequest claim) throws SQLException {
        return Statements.update(session, waiting.insert(), SINGLE_SQL, ClaimBatch::bindInsert, claim) == 1;
    }

    private static void insert(
            Session session, Waiting waiting, List<ClaimRequest> claims, Map<UUID, Decision<Claim>> decisions)
            throws SQLException {
        for (UUID token : COLUMNS.run(session, waiting.insert(), BATCH_SQL, claims)) {
            decisions.put(token, FIRST);
        }
    }

    private static void read(
            Session session, Waiting waiting, List<ClaimRequest> open, Map<UUID, Decision<Claim>> decisions)
            throws SQLException {
        Set<OperationId> ids = open.stream().map(ClaimRequest::id).collect(Collectors.toSet());
        Map<OperationId, Snapshot> found = Rows.find(session, waiting.byKey(), ids);
        List<ClaimRequest> gone = new ArrayList<>();
        Waiting next = waiting;
        for (ClaimRequest request : open) {
            Snapshot row = found.get(request.id());
            if (row == null) {
                gone.add(request);
                continue;
            }
            try {
                rule(session, next, request, row, decisions);
            } catch (SQLException e) {
                leaveLocked(List.of(request), e, decisions);
                next = NO_WAIT; // the batch has waited once
            }
        }
        if (!gone.isEmpty()) {
            insert(session, next, gone, decisions);
        }
    }

    /** Decides nothing if the row is no longer as it was seen. */
    private static void rule(
            Session session, Waiting waiting, ClaimRequest request, Snapshot row, Map<UUID, Decision<Claim>> decisions)
            throws SQLException {
        Ruling ruling = Ruling.on(request, row);
        if (ruling instanceof Ruling.Answer || carryOut(session, waiting.byKey(), request, row, ruling) == 1) {
            decisions.put(request.token(), Decision.answer(ruling.answer(row)));
        }
    }

    private static int carryOut(
            Session session, StatementSettings settings, ClaimRequest request, Snapshot row, Ruling ruling)
            throws SQLException {
        if (ruling instanceof Ruling.Resume) {
            return Statements.update(session, settings, RESUME, (s, q) -> bindResume(s, q, row), request);
        } else if (ruling instanceof Ruling.TakeOver) {
            return Statements.update(session, settings, TAKE_OVER, (s, q) -> bindTakeOver(s, q, row), request);
        } else if (ruling instanceof Ruling.BeginAnew) {
            return Statements.update(session, settings, BEGIN_ANEW, (s, q) -> bindBeginAnew(s, q, row), request);
        } else if (ruling instanceof Ruling.Fail fail) {
            return Statements.update(session, settings, FAIL, (s, q) -> bindFail(s, q, row), fail);
        }
        return Statements.update(session, settings, PARK, (s, q) -> bindObserved(s, 1, q), row);
    }

    private static void bindInsert(PreparedStatement statement, ClaimRequest claim) throws SQLException {
        ClaimTerms terms = claim.terms();
        statement.setObject(1, claim.id().value()); // id
        statement.setString(2, claim.key().tenant()); // tenant
        statement.setString(3, claim.key().scope()); // scope
        statement.setString(4, claim.key().key()); // key
        statement.setBytes(5, claim.fingerprint().digest()); // fingerprint
        statement.setObject(6, claim.token()); // token
        statement.setString(7, Rows.text(claim.owner())); // owner
        statement.setInt(8, Rows.number(terms.whenAbandoned())); // when_abandoned
        statement.setLong(9, terms.retention().toMillis()); // retention_ms
        Rows.bindMillis(statement, 10, terms.window()); // window_ms
        statement.setLong(11, terms.lease().toMillis()); // deadline
    }

    /** @return the next free index */
    private static int bindOwnership(PreparedStatement statement, ClaimRequest request) throws SQLException {
        ClaimTerms terms = request.terms();
        statement.setObject(1, request.token()); // token
        statement.setString(2, Rows.text(request.owner())); // owner
        statement.setInt(3, Rows.number(terms.whenAbandoned())); // when_abandoned
        statement.setLong(4, terms.retention().toMillis()); // retention_ms
        Rows.bindMillis(statement, 5, terms.window()); // window_ms
        statement.setLong(6, terms.lease().toMillis()); // deadline
        return 7;
    }

    private static void bindResume(PreparedStatement statement, ClaimRequest request, Snapshot row)
            throws SQLException {
        statement.setLong(1, request.terms().lease().toMillis()); // deadline
        bindObserved(statement, 2, row);
    }

    private static void bindTakeOver(PreparedStatement statement, ClaimRequest request, Snapshot row)
            throws SQLException {
        int next = bindObserved(statement, bindOwnership(statement, request), row);
        boolean fromAnOwner = row.state() == State.PROCESSING; // whose lease has expired; else it is an ordinary retry
        statement.setString(next, (fromAnOwner ? Kind.TAKEN_OVER : Kind.CLAIMED).name()); // kind
        statement.setString(next + 1, fromAnOwner ? "from " + row.owner() : null); // detail
    }

    private static void bindBeginAnew(PreparedStatement statement, ClaimRequest request, Snapshot row)
            throws SQLException {
        int next = bindOwnership(statement, request);
        statement.setBytes(next, request.fingerprint().digest()); // fingerprint
        bindObserved(statement, next + 1, row);
    }

    static void bindFail(PreparedStatement statement, Ruling.Fail fail, Snapshot row) throws SQLException {
        statement.setInt(1, fail.result().code()); // code
        statement.setString(2, Rows.text(fail.result().error())); // error
        bindObserved(statement, 3, row);
    }

    static int bindObserved(PreparedStatement statement, int index, Snapshot row) throws SQLException {
        statement.setObject(index, row.id().value()); // id
        statement.setObject(index + 1, row.token()); // token, as it was seen
        statement.setInt(index + 2, Rows.number(row.state())); // state, as it was seen
        return index + 3;
    }
}
