package dev.hapax.postgres;

import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.Finish;
import dev.hapax.store.OperationId;
import dev.hapax.store.Result;
import dev.hapax.store.Ruling;
import dev.hapax.store.Snapshot;
import dev.hapax.store.StoreTransaction;
import dev.hapax.store.Written;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Transactional mode: an advisory lock that lasts as long as the transaction decides who runs, and one write of the
 * finished row commits with the effect. No lease, nothing to sweep, no second connection.
 *
 * <p>A claim is one round trip of several statements. The lock comes before the look, which is a statement of its own
 * so that it sees what the lock's last holder committed. The setting that keeps the planner on the index is put back
 * right after the look: the transaction is not ours. Who meets the lock taken is told at once that the operation is in
 * progress.
 *
 * <p>The claim ends with a savepoint, for {@link #undo}. All savepoints have one name, so that the driver knows the
 * statement, and a newer one hides the older ones. Each knows whose it is by a setting made just before it: to go back
 * to a savepoint also puts back what was set then.
 */
final class PostgresTransaction implements StoreTransaction {
    private static final String SHUN_SEQSCAN = """
            set_config('hapax.seqscan', current_setting('enable_seqscan'), true),
                set_config('enable_seqscan', 'off', true)""";

    private static final String PUT_BACK =
            "SELECT set_config('enable_seqscan', current_setting('hapax.seqscan'), true)";

    private static final String CLAIM = "SELECT pg_try_advisory_xact_lock(?), set_config('hapax.savepoint', ?, true), "
            + SHUN_SEQSCAN + "; SELECT " + Rows.COLUMNS + " FROM hapax_operation WHERE id = ?; " + PUT_BACK
            + "; SAVEPOINT hapax";

    private static final String RELEASE = "RELEASE SAVEPOINT hapax";
    private static final String GO_BACK = "ROLLBACK TO SAVEPOINT hapax";
    private static final String WHOSE = "SELECT current_setting('hapax.savepoint')";

    private static final String INSERT = """
            INSERT INTO hapax_operation (id, tenant, scope, key, fingerprint, token, owner, when_abandoned,
                retention_ms, window_ms, attempt, created_at, claimed_at, finished_at, state, deadline, code, headers, body, error)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, now(), now(), clock_timestamp(), ?,
                clock_timestamp() + ? * interval '1 millisecond', ?, ?, ?, ?)
            ON CONFLICT (id) DO NOTHING""";

    private static final String REPLACE = """
            UPDATE hapax_operation
            SET fingerprint = ?, token = ?, owner = ?, when_abandoned = ?, retention_ms = ?, window_ms = ?,
                attempt = ?, generation = ?,
                created_at = CASE WHEN ? THEN now() ELSE created_at END, claimed_at = now(),
                finished_at = clock_timestamp(), state = ?, deadline = clock_timestamp() + ? * interval '1 millisecond',
                code = ?, headers = ?, body = ?, error = ?
            WHERE id = ? AND token = ? AND state = ? AND (state <> 1 OR deadline <= clock_timestamp())""";

    private final Connection connection;
    private final Map<UUID, Held> held = new HashMap<>();

    /** @param row what was there before, if anything */
    private record Held(
            ClaimRequest request, Claim.Won won, @Nullable Snapshot row) {}

    private interface SqlStep<T> {
        T run() throws SQLException;
    }

    private PostgresTransaction(Connection connection) {
        this.connection = connection;
    }

    static PostgresTransaction on(Connection connection) {
        boolean autoCommit = PostgresTransaction.<Boolean>translating(connection::getAutoCommit);
        if (autoCommit) {
            throw new IllegalArgumentException(
                    "the connection is in auto-commit mode, so nothing would commit together: call setAutoCommit(false)");
        }
        return new PostgresTransaction(connection);
    }

    @Override
    public Claim claim(ClaimRequest request) {
        return translating(() -> {
            Claim claim = lockAndLook(request);
            if (!(claim instanceof Claim.Won)) {
                execute(RELEASE);
            }
            return claim;
        });
    }

    private Claim lockAndLook(ClaimRequest request) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(CLAIM)) {
            statement.setLong(1, lockOf(request.id()));
            statement.setString(2, request.token().toString()); // hapax.savepoint
            statement.setObject(3, request.id().value()); // id
            statement.execute();
            boolean locked;
            try (ResultSet row = statement.getResultSet()) {
                row.next();
                locked = row.getBoolean(1);
            }
            statement.getMoreResults();
            Snapshot found;
            try (ResultSet row = statement.getResultSet()) {
                found = row.next() ? Rows.read(row) : null;
            }
            return locked
                    ? rule(request, found)
                    : new Claim.Running(request.terms().lease());
        }
    }

    private Claim rule(ClaimRequest request, @Nullable Snapshot row) throws SQLException {
        if (row == null) {
            Claim.Won first = new Claim.Won(1);
            held.put(request.token(), new Held(request, first, null));
            return first;
        }
        Ruling ruling = Ruling.on(request, row);
        Claim answer = ruling.answer(row);
        if (answer instanceof Claim.Won won) {
            held.put(request.token(), new Held(request, won, row));
        } else if (!(ruling instanceof Ruling.Answer) && carryOut(ruling, row) == 0) {
            return new Claim.Running(request.terms().lease());
        }
        return answer;
    }

    /** Fails or parks what its owner abandoned, as a claim outside of transactions would. */
    private int carryOut(Ruling ruling, Snapshot row) throws SQLException {
        return ruling instanceof Ruling.Fail fail
                ? updateByIndex(ClaimBatch.FAIL, statement -> ClaimBatch.bindFail(statement, fail, row))
                : updateByIndex(ClaimBatch.PARK, statement -> ClaimBatch.bindObserved(statement, 1, row));
    }

    private interface Binder {
        void bind(PreparedStatement statement) throws SQLException;
    }

    private int updateByIndex(String sql, Binder binder) throws SQLException {
        execute("SELECT " + SHUN_SEQSCAN);
        try (PreparedStatement update = connection.prepareStatement(sql)) {
            binder.bind(update);
            int count = update.executeUpdate();
            execute(PUT_BACK);
            return count;
        }
    }

    @Override
    public void undo(UUID token) {
        translating(() -> {
            execute(GO_BACK);
            while (!whose().equals(token.toString())) {
                execute(RELEASE); // it belongs to an operation within ours
                execute(GO_BACK);
            }
            return true;
        });
    }

    private String whose() throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(WHOSE);
                ResultSet row = statement.executeQuery()) {
            row.next();
            return row.getString(1);
        }
    }

    private void execute(String sql) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.execute();
        }
    }

    @Override
    public Written finish(Finish finish) {
        Held claim = Objects.requireNonNull(held.get(finish.token()), "nothing was claimed");
        int count =
                translating(() -> claim.row() == null ? insert(claim, finish) : replace(claim, claim.row(), finish));
        return count == 1 ? Written.RECORDED : Written.CLAIM_LOST;
    }

    private int insert(Held claim, Finish finish) throws SQLException {
        ClaimRequest request = claim.request();
        try (PreparedStatement statement = connection.prepareStatement(INSERT)) {
            statement.setObject(1, request.id().value()); // id
            statement.setString(2, request.key().tenant()); // tenant
            statement.setString(3, request.key().scope()); // scope
            statement.setString(4, request.key().key()); // key
            int next = bindOwnership(statement, 5, request);
            bindEnd(statement, next, finish);
            return statement.executeUpdate();
        }
    }

    private int replace(Held claim, Snapshot row, Finish finish) throws SQLException {
        return updateByIndex(REPLACE, statement -> {
            int next = bindOwnership(statement, 1, claim.request());
            statement.setInt(next, claim.won().attempt()); // attempt
            statement.setInt(next + 1, claim.won().generation()); // generation
            statement.setBoolean(next + 2, row.state().isTerminal()); // created_at
            next = bindEnd(statement, next + 3, finish);
            ClaimBatch.bindObserved(statement, next, row);
        });
    }

    private static int bindOwnership(PreparedStatement statement, int index, ClaimRequest request) throws SQLException {
        statement.setBytes(index, request.fingerprint().digest()); // fingerprint
        statement.setObject(index + 1, request.token()); // token
        statement.setString(index + 2, Rows.text(request.owner())); // owner
        statement.setInt(index + 3, Rows.number(request.terms().whenAbandoned())); // when_abandoned
        statement.setLong(index + 4, request.terms().retention().toMillis()); // retention_ms
        Rows.bindMillis(statement, index + 5, request.terms().window()); // window_ms
        return index + 6;
    }

    private static int bindEnd(PreparedStatement statement, int index, Finish finish) throws SQLException {
        Result result = finish.result();
        statement.setInt(index, Rows.number(result.state())); // state
        statement.setLong(index + 1, finish.retention().toMillis()); // deadline
        Rows.bindResult(statement, index + 2, result); // code, headers, body, error
        return index + 6;
    }

    private static long lockOf(OperationId id) {
        UUID value = id.value();
        return value.getMostSignificantBits() ^ value.getLeastSignificantBits();
    }

    private static <T> T translating(SqlStep<T> step) {
        try {
            return step.run();
        } catch (SQLException e) {
            throw SqlErrors.translate(e);
        }
    }
}
