package dev.hapax.bench;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.List;
import java.util.UUID;

/**
 * Transactional mode beside its limit: the same business transaction with one more insert, that of the finished row.
 * Nothing that keeps a record in the database can do with less; it has no claim, so it would run repeats again.
 */
final class TransactionalFigures {
    private static final String LIMIT = "the same with the record's insert and no claim, the limit";

    static final List<Figure> ALL = List.of(
            Figure.of(
                    "transactional-8",
                    "one business insert in a transaction that Hapax commits, 8 callers",
                    LIMIT,
                    0.9,
                    Comparison.by((lab, effort) -> against(lab, owned(lab), TransactionalFigures::recorded))),
            Figure.informing(
                    "transactional-enlisted-8",
                    "one business insert in a transaction that the caller commits, 8 callers",
                    LIMIT,
                    Comparison.by((lab, effort) -> against(lab, enlisted(lab), TransactionalFigures::recorded))),
            Figure.informing(
                    "transactional-bare-8",
                    "one business insert in a transaction that Hapax commits, 8 callers",
                    "the business transaction alone",
                    Comparison.by((lab, effort) -> against(lab, owned(lab), Operations::business))));

    private static final String RECORD = """
            INSERT INTO floor_operation (id, tenant, scope, key, fingerprint, token, owner, when_abandoned, retention_ms,
                window_ms, attempt, generation, state, deadline, code, headers, body, error, created_at, claimed_at,
                finished_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, clock_timestamp() + ? * interval '1 millisecond', ?, ?, ?, ?,
                now(), now(), clock_timestamp())
            ON CONFLICT (id) DO NOTHING""";

    private static final long DAY_MS = 86_400_000;

    private TransactionalFigures() {}

    private interface Transaction {
        void run(Connection connection) throws SQLException;
    }

    /** Every transaction takes its connection from the pool, on both sides. */
    private static Comparison against(Lab lab, Workload ours, Transaction transaction) throws Exception {
        HikariDataSource pool = lab.pool(Figures.POOL, Lab.WARM);
        return Comparison.of(ours, Workload.calling("transaction", Figures.POOL, pool::close, () -> {
            try (Connection connection = pool.getConnection()) {
                connection.setAutoCommit(false);
                transaction.run(connection);
                connection.setAutoCommit(true);
            }
        }));
    }

    private static Workload owned(Lab lab) throws Exception {
        Operations operations = Operations.on(lab, Figures.POOL, Lab.WARM);
        return Workload.calling("hapax commits", Figures.POOL, operations::close, operations::transactional);
    }

    private static Workload enlisted(Lab lab) throws Exception {
        Operations operations = Operations.on(lab, Figures.POOL, Lab.WARM);
        return Workload.calling("the caller commits", Figures.POOL, operations::close, operations::enlisted);
    }

    private static void recorded(Connection connection) throws SQLException {
        record(connection, Operations.order(connection));
        connection.commit();
    }

    private static void record(Connection connection, byte[] body) throws SQLException {
        UUID id = UUID.randomUUID();
        try (PreparedStatement insert = connection.prepareStatement(RECORD)) {
            insert.setObject(1, id); // id
            insert.setString(2, ""); // tenant
            insert.setString(3, Operations.SCOPE); // scope
            insert.setString(4, id.toString()); // key
            insert.setBytes(5, Floor.FINGERPRINT); // fingerprint
            insert.setObject(6, UUID.randomUUID()); // token
            insert.setString(7, "floor"); // owner
            insert.setInt(8, 0); // when_abandoned
            insert.setLong(9, DAY_MS); // retention_ms
            insert.setNull(10, Types.BIGINT); // window_ms
            insert.setInt(11, 1); // attempt
            insert.setInt(12, 1); // generation
            insert.setInt(13, 2); // state
            insert.setLong(14, DAY_MS); // deadline
            insert.setInt(15, 0); // code
            insert.setBytes(16, new byte[0]); // headers
            insert.setBytes(17, body); // body
            insert.setString(18, null); // error
            if (insert.executeUpdate() != 1) {
                throw new IllegalStateException("the record was not inserted");
            }
        }
    }
}
