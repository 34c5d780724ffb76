package dev.hapax.postgres;

import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.ClaimTerms;
import dev.hapax.store.OperationId;
import dev.hapax.store.Ruling;
import dev.hapax.store.Snapshot;
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
 * Decides claims: insert, and who inserted has won. Only who has not looks at the row that was in the way. While
 * {@link Repeats} prevail the look comes first, and only who finds nothing inserts: a repeat then costs one read.
 *
 * <p>The look is a statement of its own, after the insert's transaction: it sees what was committed in between. What it
 * finds is ruled on by {@link Ruling}, and what that asks for is written only if the row is still as it was seen. If it
 * is not, or has gone since, the next look tells; after a few looks the claim counts as contended and comes back later.
 */
final class ClaimWork implements Lane.Work<ClaimRequest, Claim> {
    private static final int MOST_LOOKS = 5;

    private static final String INTO = """
            INSERT INTO hapax_operation (id, tenant, scope, key, state, fingerprint, token, attempt, owner,
                when_abandoned, retention_ms, window_ms, created_at, claimed_at, deadline)
            """;

    /** The insert finds what is in its way by the key, whatever the plan: all it needs is a lock timeout. */
    private static final String ALONE = INTO + """
            VALUES (?, ?, ?, ?, 1, ?, ?, 1, ?, ?, ?, ?, clock_timestamp(), clock_timestamp(),
                clock_timestamp() + ? * interval '1 millisecond')
            ON CONFLICT (id) DO NOTHING""";

    /** Where one operation is claimed twice, the first claim wins. */
    private static final String TOGETHER = INTO + """
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
            SELECT id, clock_timestamp(), 'TAKEN_OVER', attempt, owner, ? FROM taken""";

    private static final String BEGIN_ANEW = """
            WITH begun AS (
                UPDATE hapax_operation
                SET state = 1, attempt = 1, forgiven = 0, generation = generation + 1, token = ?, owner = ?, when_abandoned = ?, retention_ms = ?,
                    window_ms = ?, claimed_at = clock_timestamp(), deadline = clock_timestamp() + ? * interval '1 millisecond',
                    fingerprint = ?, created_at = clock_timestamp(), finished_at = NULL,
                    code = NULL, headers = NULL, body = NULL, error = NULL
                WHERE id = ? AND token = ? AND state = ?
                RETURNING id, attempt, owner)
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
    private static final Way IMPATIENT = new Way(Duration.ofMillis(1));

    private final Way patient;
    private final Repeats repeats;

    /** One way of waiting for locks. */
    private record Way(Session.Guard insert, Session.Guard byKey) {
        Way(Duration lockTimeout) {
            this(Session.Guard.lockTimeoutOnly(lockTimeout), Session.Guard.byKey(lockTimeout));
        }
    }

    ClaimWork(Duration lockTimeout, Repeats repeats) {
        this.repeats = repeats;
        patient = new Way(lockTimeout);
    }

    @Override
    public OperationId id(ClaimRequest request) {
        return request.id();
    }

    @Override
    public Duration lockWaitTimeout(ClaimRequest request) {
        return request.timeout();
    }

    @Override
    public List<Decision<Claim>> run(Session session, Lane.LockWait wait, List<ClaimRequest> requests)
            throws SQLException {
        Way way = wait == Lane.LockWait.SHORT ? patient : IMPATIENT;
        List<Decision<Claim>> decisions = repeats.prevail()
                ? decide(session, way, requests, new HashMap<>())
                : insertFirst(session, way, requests);
        repeats.learn(decisions);
        return decisions;
    }

    private static List<Decision<Claim>> insertFirst(Session session, Way way, List<ClaimRequest> requests)
            throws SQLException {
        if (requests.size() == 1 && insertAlone(session, way, requests.get(0))) {
            return List.of(FIRST);
        }
        Map<UUID, Decision<Claim>> decisions = new HashMap<>();
        if (requests.size() > 1) {
            insert(session, way, requests, decisions);
        }
        return decide(session, way, requests, decisions);
    }

    /**
     * A lock that is met here keeps those that it concerns undecided, and nobody else: who has inserted has won.
     *
     * @param decisions those that are known already, by the claims' tokens
     */
    private static List<Decision<Claim>> decide(
            Session session, Way way, List<ClaimRequest> requests, Map<UUID, Decision<Claim>> decisions)
            throws SQLException {
        for (int look = 0; look < MOST_LOOKS; look++) {
            List<ClaimRequest> open = requests.stream()
                    .filter(request -> !decisions.containsKey(request.token()))
                    .toList();
            if (open.isEmpty()) {
                break;
            }
            try {
                look(session, way, open, decisions);
            } catch (SQLException e) {
                leaveLocked(open, e, decisions);
            }
        }
        return requests.stream()
                .map(request -> decisions.getOrDefault(request.token(), keptChanging()))
                .toList();
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

    private static boolean insertAlone(Session session, Way way, ClaimRequest claim) throws SQLException {
        return Statements.update(session, way.insert(), ALONE, ClaimWork::bindInsert, claim) == 1;
    }

    private static void insert(
            Session session, Way way, List<ClaimRequest> claims, Map<UUID, Decision<Claim>> decisions)
            throws SQLException {
        for (UUID token : COLUMNS.run(session, way.insert(), TOGETHER, claims)) {
            decisions.put(token, FIRST);
        }
    }

    private static void look(Session session, Way way, List<ClaimRequest> open, Map<UUID, Decision<Claim>> decisions)
            throws SQLException {
        Set<OperationId> ids = open.stream().map(ClaimRequest::id).collect(Collectors.toSet());
        Map<OperationId, Snapshot> found = Rows.find(session, way.byKey(), ids);
        List<ClaimRequest> gone = new ArrayList<>();
        Way next = way;
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
                next = IMPATIENT; // the batch has waited once
            }
        }
        if (!gone.isEmpty()) {
            insert(session, next, gone, decisions);
        }
    }

    /** Decides nothing if the row is no longer as it was seen. */
    private static void rule(
            Session session, Way way, ClaimRequest request, Snapshot row, Map<UUID, Decision<Claim>> decisions)
            throws SQLException {
        Ruling ruling = Ruling.on(request, row);
        if (ruling instanceof Ruling.Answer || carryOut(session, way.byKey(), request, row, ruling) == 1) {
            decisions.put(request.token(), Decision.answer(ruling.answer(row)));
        }
    }

    private static int carryOut(Session session, Session.Guard guard, ClaimRequest request, Snapshot row, Ruling ruling)
            throws SQLException {
        if (ruling instanceof Ruling.Resume) {
            return Statements.update(session, guard, RESUME, (s, q) -> bindResume(s, q, row), request);
        } else if (ruling instanceof Ruling.TakeOver) {
            return Statements.update(session, guard, TAKE_OVER, (s, q) -> bindTakeOver(s, q, row), request);
        } else if (ruling instanceof Ruling.BeginAnew) {
            return Statements.update(session, guard, BEGIN_ANEW, (s, q) -> bindBeginAnew(s, q, row), request);
        } else if (ruling instanceof Ruling.Fail fail) {
            return Statements.update(session, guard, FAIL, (s, q) -> bindFail(s, q, row), fail);
        }
        return Statements.update(session, guard, PARK, (s, q) -> bindObserved(s, 1, q), row);
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
        statement.setString(next, "from " + row.owner()); // detail
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
