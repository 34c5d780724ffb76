package dev.hapax.postgres;

import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.ClaimTerms;
import dev.hapax.store.OperationId;
import dev.hapax.store.Ruling;
import dev.hapax.store.Snapshot;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;

/**
 * Decides claims: insert, and who inserted has won. Only who has not looks at the row that was in the way.
 *
 * <p>The look is a statement of its own, after the insert's transaction: it sees what was committed in between. What it
 * finds is ruled on by {@link Ruling}, and what that asks for is written only if the row is still as it was seen. If it
 * is not, or has gone since, the next look tells; after a few looks the claim counts as contended and comes back later.
 */
final class ClaimWork implements Lane.Work<ClaimRequest, Claim> {
    private static final int MOST_LOOKS = 5;

    /** All claims of a round in one statement; where one operation is claimed twice, the first one wins. */
    private static final String INSERT = """
            INSERT INTO hapax_operation (id, tenant, scope, key, state, fingerprint, token, attempt, owner,
                when_abandoned, retention_ms, created_at, claimed_at, deadline)
            SELECT id, tenant, scope, key, 1, fingerprint, token, 1, owner, when_abandoned, retention_ms,
                clock_timestamp(), clock_timestamp(), clock_timestamp() + lease_ms * interval '1 millisecond'
            FROM unnest(?::uuid[], ?::text[], ?::text[], ?::text[], ?::bytea[], ?::uuid[], ?::text[], ?::int4[],
                ?::int8[], ?::int8[]) AS claim (id, tenant, scope, key, fingerprint, token, owner, when_abandoned,
                retention_ms, lease_ms)
            ON CONFLICT (id) DO NOTHING
            RETURNING token""";

    private static final String TAKE_OVER = """
            WITH taken AS (
                UPDATE hapax_operation
                SET state = 1, attempt = attempt + 1, token = ?, owner = ?, when_abandoned = ?, retention_ms = ?,
                    claimed_at = clock_timestamp(), deadline = clock_timestamp() + ? * interval '1 millisecond',
                    error = NULL
                WHERE id = ? AND token = ? AND (state = 0 OR state = 1 AND deadline <= clock_timestamp())
                RETURNING id, attempt, owner)
            INSERT INTO hapax_event (id, at, kind, attempt, actor, detail)
            SELECT id, clock_timestamp(), 'TAKEN_OVER', attempt, owner, ? FROM taken""";

    private static final String BEGIN_ANEW = """
            WITH begun AS (
                UPDATE hapax_operation
                SET state = 1, attempt = 1, token = ?, owner = ?, when_abandoned = ?, retention_ms = ?,
                    claimed_at = clock_timestamp(), deadline = clock_timestamp() + ? * interval '1 millisecond',
                    fingerprint = ?, created_at = clock_timestamp(), finished_at = NULL,
                    code = NULL, headers = NULL, body = NULL, error = NULL
                WHERE id = ? AND token = ? AND state IN (2, 3) AND deadline <= clock_timestamp()
                RETURNING id, attempt, owner)
            INSERT INTO hapax_event (id, at, kind, attempt, actor, detail)
            SELECT id, clock_timestamp(), 'BEGUN_ANEW', attempt, owner, 'the operation before it had expired'
            FROM begun""";

    static final String FAIL = """
            WITH ended AS (
                UPDATE hapax_operation
                SET state = 3, token = gen_random_uuid(), finished_at = clock_timestamp(),
                    deadline = clock_timestamp() + retention_ms * interval '1 millisecond', code = ?, error = ?
                WHERE id = ? AND token = ? AND (state = 0 OR state = 1 AND deadline <= clock_timestamp())
                RETURNING id, attempt, owner, error)
            INSERT INTO hapax_event (id, at, kind, attempt, actor, detail)
            SELECT id, clock_timestamp(), 'ABANDONED', attempt, owner, error FROM ended""";

    static final String PARK = """
            WITH parked AS (
                UPDATE hapax_operation
                SET state = 4, token = gen_random_uuid(), deadline = 'infinity'
                WHERE id = ? AND token = ? AND (state = 0 OR state = 1 AND deadline <= clock_timestamp())
                RETURNING id, attempt, owner)
            INSERT INTO hapax_event (id, at, kind, attempt, actor, detail)
            SELECT id, clock_timestamp(), 'PARKED', attempt, owner, NULL FROM parked""";

    @Override
    public OperationId id(ClaimRequest request) {
        return request.id();
    }

    @Override
    public List<Claim> run(Session session, Session.Guard guard, List<ClaimRequest> requests) throws SQLException {
        Claim[] answers = new Claim[requests.size()];
        insert(session, guard, requests, answers, range(requests.size()));
        for (int look = 0; look < MOST_LOOKS; look++) {
            List<Integer> open = unanswered(answers);
            if (open.isEmpty()) {
                return Arrays.asList(answers);
            }
            look(session, guard, requests, answers, open);
        }
        throw new SQLException("an operation kept changing while it was claimed", "40001");
    }

    private static void insert(
            Session session, Session.Guard guard, List<ClaimRequest> requests, Claim[] answers, List<Integer> which)
            throws SQLException {
        List<ClaimRequest> claims = which.stream().map(requests::get).toList();
        try (PreparedStatement insert = session.prepareAlone(guard, INSERT)) {
            bindInsert(insert, claims);
            Session.executeAlone(insert);
            Set<UUID> inserted = new HashSet<>();
            try (ResultSet row = insert.getResultSet()) {
                while (row.next()) {
                    inserted.add(row.getObject("token", UUID.class));
                }
            }
            for (int i : which) {
                if (inserted.contains(requests.get(i).token())) {
                    answers[i] = new Claim.Won(1);
                }
            }
        }
    }

    private static List<Integer> range(int size) {
        return IntStream.range(0, size).boxed().toList();
    }

    private static List<Integer> unanswered(Claim[] answers) {
        List<Integer> open = new ArrayList<>();
        for (int i = 0; i < answers.length; i++) {
            if (answers[i] == null) {
                open.add(i);
            }
        }
        return open;
    }

    private static void look(
            Session session, Session.Guard guard, List<ClaimRequest> requests, Claim[] answers, List<Integer> open)
            throws SQLException {
        Set<OperationId> ids = new HashSet<>();
        open.forEach(i -> ids.add(requests.get(i).id()));
        Map<OperationId, Snapshot> found = Rows.find(session, guard, ids);
        List<Integer> gone = new ArrayList<>();
        for (int i : open) {
            ClaimRequest request = requests.get(i);
            Snapshot row = found.get(request.id());
            if (row == null) {
                gone.add(i);
                continue;
            }
            Ruling ruling = Ruling.on(request, row);
            if (ruling instanceof Ruling.Answer || carryOut(session, guard, request, row, ruling) == 1) {
                answers[i] = ruling.answer(row);
            }
        }
        if (!gone.isEmpty()) {
            insert(session, guard, requests, answers, gone);
        }
    }

    private static int carryOut(Session session, Session.Guard guard, ClaimRequest request, Snapshot row, Ruling ruling)
            throws SQLException {
        if (ruling instanceof Ruling.TakeOver) {
            return Statements.update(session, guard, TAKE_OVER, (s, q) -> bindTakeOver(s, q, row), request);
        } else if (ruling instanceof Ruling.BeginAnew) {
            return Statements.update(session, guard, BEGIN_ANEW, (s, q) -> bindBeginAnew(s, q, row), request);
        } else if (ruling instanceof Ruling.Fail fail) {
            return Statements.update(session, guard, FAIL, (s, q) -> bindFail(s, q, row), fail);
        }
        return Statements.update(session, guard, PARK, (s, q) -> bindObserved(s, 1, q), row);
    }

    private static void bindInsert(PreparedStatement statement, List<ClaimRequest> claims) throws SQLException {
        Statements.bindAll(
                statement, 1, "uuid", UUID[]::new, claims, claim -> claim.id().value()); // id
        Statements.bindAll(
                statement,
                2,
                "text",
                String[]::new,
                claims,
                claim -> claim.key().tenant()); // tenant
        Statements.bindAll(
                statement,
                3,
                "text",
                String[]::new,
                claims,
                claim -> claim.key().scope()); // scope
        Statements.bindAll(
                statement,
                4,
                "text",
                String[]::new,
                claims,
                claim -> claim.key().key()); // key
        Statements.bindAll(
                statement,
                5,
                "bytea",
                byte[][]::new,
                claims,
                claim -> claim.fingerprint().digest()); // fingerprint
        Statements.bindAll(statement, 6, "uuid", UUID[]::new, claims, ClaimRequest::token); // token
        Statements.bindAll(statement, 7, "text", String[]::new, claims, claim -> Rows.text(claim.owner())); // owner
        Statements.bindAll(
                statement,
                8,
                "int4",
                Integer[]::new,
                claims,
                claim -> Rows.number(claim.terms().whenAbandoned()));
        Statements.bindAll(
                statement,
                9,
                "int8",
                Long[]::new,
                claims,
                claim -> claim.terms().retention().toMillis());
        Statements.bindAll(
                statement,
                10,
                "int8",
                Long[]::new,
                claims,
                claim -> claim.terms().lease().toMillis());
    }

    /** @return the next free index */
    private static int bindOwnership(PreparedStatement statement, ClaimRequest request) throws SQLException {
        ClaimTerms terms = request.terms();
        statement.setObject(1, request.token()); // token
        statement.setString(2, Rows.text(request.owner())); // owner
        statement.setInt(3, Rows.number(terms.whenAbandoned())); // when_abandoned
        statement.setLong(4, terms.retention().toMillis()); // retention_ms
        statement.setLong(5, terms.lease().toMillis()); // deadline
        return 6;
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
        return index + 2;
    }
}
