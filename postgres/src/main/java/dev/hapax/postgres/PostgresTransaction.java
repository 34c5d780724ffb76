package dev.hapax.postgres;

import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.Finish;
import dev.hapax.store.OperationId;
import dev.hapax.store.Ruling;
import dev.hapax.store.Snapshot;
import dev.hapax.store.StoreException;
import dev.hapax.store.StoreTransaction;
import dev.hapax.store.StoreUnavailableException;
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
 * <p>A claim is one round trip of three statements. The first one takes the lock and keeps the planner on the index.
 * The second one looks at the row, so it sees what the lock's last holder committed, and puts the planner's setting
 * back: the transaction is the caller's. A row that has an answer is answered, whoever has the lock; otherwise a claim
 * that meets the lock taken is told at once that the operation is in progress.
 *
 * <p>The third statement is a savepoint, for {@link #undo}. All savepoints have one name, so that the driver knows the
 * statement, and a newer one hides the older ones. Each knows whose it is by a setting made just before it: to go back
 * to a savepoint also puts back what was set then.
 *
 * <p>Where Hapax itself commits ({@link PostgresTransactions}), the record of the last operation travels with the
 * COMMIT: one round trip less. Until then it is only remembered, and written before anything that could miss it.
 */
final class PostgresTransaction implements StoreTransaction {
    private static final String MARK_SAVEPOINT = "set_config('hapax.savepoint', ?, true)";

    /**
     * Tells a record that is written late whether it is still in the transaction of its claim, and the next claim
     * whether what was written late is still there: to go back to a savepoint puts the setting back as well.
     */
    private static final String MARK_BOTH =
            "current_setting('hapax.record', true), set_config('hapax.record', " + MARK_SAVEPOINT + ", true)";

    private static final String CLAIM = "SELECT pg_try_advisory_xact_lock(?), %s, " + IndexPlans.FORCE + "; SELECT "
            + Rows.COLUMNS + ", " + IndexPlans.RESTORE
            + " FROM (SELECT) AS always LEFT JOIN hapax_operation ON id = ?; SAVEPOINT hapax";

    private static final String CLAIM_ENLISTED = CLAIM.formatted(MARK_SAVEPOINT);
    private static final String CLAIM_OWN = CLAIM.formatted(MARK_BOTH);

    private static final String RELEASE = "RELEASE SAVEPOINT hapax";
    private static final String GO_BACK = "ROLLBACK TO SAVEPOINT hapax";

    /** PostgreSQL answers the COMMIT of a failed transaction with a rollback, and only a statement before it fails. */
    private static final String COMMIT = "SELECT 1; COMMIT";

    private static final String SETTING = "SELECT current_setting(?, true)";

    private final Connection connection;
    private final boolean ours;
    private final Map<UUID, Held> held = new HashMap<>();
    private @Nullable UUID lastClaim;

    /** The record that is to travel with the COMMIT: that of the last claim, if any. */
    private @Nullable TransactionRecord unwritten;

    private boolean wroteLate;

    /** Why this transaction must not be committed, if so: it would contain an effect without its record. */
    private @Nullable StoreException lost;

    /** @param row what was there before, if anything */
    private record Held(
            ClaimRequest request, Claim.Won won, @Nullable Snapshot row) {}

    private interface SqlStep<T> {
        T run() throws SQLException;
    }

    private PostgresTransaction(Connection connection, boolean ours) {
        this.connection = connection;
        this.ours = ours;
    }

    /** The caller's transaction: never committed or rolled back as a whole here. */
    static PostgresTransaction on(Connection connection) {
        boolean autoCommit = PostgresTransaction.<Boolean>translating(connection::getAutoCommit);
        if (autoCommit) {
            throw new IllegalArgumentException(
                    "the connection is in auto-commit mode, so nothing would commit together: call setAutoCommit(false)");
        }
        return new PostgresTransaction(connection, false);
    }

    /** A transaction that Hapax has begun, and ends with {@link #commit}. */
    static PostgresTransaction begunOn(Connection connection) {
        return new PostgresTransaction(connection, true);
    }

    @Override
    public Claim claim(ClaimRequest request) {
        return translating(() -> {
            writeNow();
            Claim claim = lockAndLook(request);
            if (!(claim instanceof Claim.Won)) {
                execute(RELEASE);
            }
            return claim;
        });
    }

    private Claim lockAndLook(ClaimRequest request) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(ours ? CLAIM_OWN : CLAIM_ENLISTED)) {
            statement.setLong(1, lockOf(request.id()));
            statement.setString(2, request.token().toString()); // hapax.savepoint
            statement.setObject(3, request.id().value()); // id
            statement.execute();
            boolean locked;
            try (ResultSet row = statement.getResultSet()) {
                row.next();
                locked = row.getBoolean(1);
                if (ours) {
                    requireWithinLastClaim(row.getString(2)); // hapax.record, as it was
                }
            }
            lastClaim = request.token();
            statement.getMoreResults();
            Snapshot found;
            try (ResultSet row = statement.getResultSet()) {
                row.next();
                found = row.getObject(1) == null ? null : Rows.read(row); // id
            }
            return locked ? rule(request, found) : answerWithoutLock(request, found);
        }
    }

    /** What has ended stays so, whoever has the lock; anything else is up to the lock's holder. */
    private static Claim answerWithoutLock(ClaimRequest request, @Nullable Snapshot row) {
        return row != null && Ruling.on(request, row) instanceof Ruling.Answer answer
                ? answer.claim()
                : new Claim.Running(request.terms().lease());
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
                ? IndexPlans.update(connection, ClaimBatch.FAIL, it -> ClaimBatch.bindFail(it, fail, row))
                : IndexPlans.update(connection, ClaimBatch.PARK, it -> ClaimBatch.bindObserved(it, 1, row));
    }

    /** What is unwritten is the record of the last claim, which is this one or within it, so it is undone as well. */
    @Override
    public void undo(UUID token) {
        unwritten = null;
        lastClaim = token;
        translating(() -> {
            execute(GO_BACK);
            while (!token.toString().equals(setting("hapax.savepoint"))) {
                execute(RELEASE); // it belongs to an operation within ours
                execute(GO_BACK);
            }
            return true;
        });
    }

    private @Nullable String setting(String name) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(SETTING)) {
            statement.setString(1, name);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getString(1);
            }
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
        TransactionRecord record = new TransactionRecord(claim.request(), claim.won(), claim.row(), finish);
        if (ours && claim.row() == null && finish.token().equals(lastClaim)) {
            unwritten = record;
            return Written.RECORDED;
        }
        return translating(() -> record.write(connection)) ? Written.RECORDED : Written.CLAIM_LOST;
    }

    /** The next claim may be of the same operation, and is to find its record. */
    private void writeNow() {
        TransactionRecord record = unwritten;
        unwritten = null;
        if (record != null) {
            wroteLate = true;
            lost = claimLost(null); // unless it is written: with autosave, a failure would not fail the transaction
            try {
                lost = record.insertWithinClaim(connection) ? null : lost;
            } catch (SQLException e) {
                lost = SqlErrors.isNullRefused(e) ? endedByWork(e) : SqlErrors.translate(e);
            }
        }
        requireNotLost();
    }

    private void requireNotLost() {
        if (lost != null) {
            throw lost;
        }
    }

    /**
     * Fails if the work went back to a savepoint from before its last claim, and what was written late went with that.
     *
     * @param marked which claim's setting is in force
     */
    private void requireWithinLastClaim(@Nullable String marked) {
        if (wroteLate && !String.valueOf(lastClaim).equals(marked)) {
            lost = endedByWork(null);
        }
        requireNotLost();
    }

    /**
     * Commits, together with the record that is not written yet.
     *
     * @throws StoreUnavailableException when somebody else has claimed the operation meanwhile, too: the effect is
     *     undone, and running the operation again gives the other one's result
     */
    void commit() {
        TransactionRecord record = unwritten;
        unwritten = null;
        try {
            requireNotLost();
            if (record != null) {
                record.insertAndCommit(connection);
            } else {
                if (wroteLate) {
                    requireWithinLastClaim(setting("hapax.record"));
                }
                execute(COMMIT);
            }
            connection.commit(); // of no cost, since that was done, but pools keep count of commits
        } catch (SQLException e) {
            throw record == null ? SqlErrors.translate(e) : notCommitted(record, e);
        }
    }

    private StoreException notCommitted(TransactionRecord record, SQLException e) {
        if (SqlErrors.isNullRefused(e)) {
            return endedByWork(e);
        }
        return SqlErrors.isDuplicate(e) && isRecordedByAnother(record, e) ? claimLost(e) : SqlErrors.translate(e);
    }

    private static StoreException endedByWork(@Nullable SQLException e) {
        return new StoreException(
                "nothing more was committed, because the work itself has committed the transaction, or rolled it back to a "
                        + "point before its last operation: leave commit and rollback to Transactions.call",
                e);
    }

    /** A duplicate may be in a table of the caller's, if its constraint is checked at the end of the transaction. */
    private boolean isRecordedByAnother(TransactionRecord record, SQLException e) {
        try {
            connection.rollback();
            held.clear();
            wroteLate = false;
            Claim unused = claim(record.request());
            Held won = held.get(record.request().token());
            return won == null || won.row() != null;
        } catch (SQLException | StoreException broken) {
            e.addSuppressed(broken);
            return false;
        }
    }

    private static StoreUnavailableException claimLost(@Nullable SQLException e) {
        return new StoreUnavailableException(
                "an operation of this transaction was claimed outside of it meanwhile, so the transaction is rolled back; "
                        + "run it again with the same key to get the other one's result",
                e);
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
