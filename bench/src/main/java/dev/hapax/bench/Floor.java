package dev.hapax.bench;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.bench.peers.Payload;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * The best that hand-written JDBC does for the same promise: one prepared statement per commit, on a copy of the table
 * with the same indexes.
 *
 * <p>Like Hapax it holds no connection while the handler runs; unlike Hapax it hashes nothing, renews nothing and
 * answers nobody who comes second.
 */
final class Floor implements FreshOperations {
    private static final String CLAIM = """
            INSERT INTO floor_operation (id, tenant, scope, key, state, fingerprint, token, attempt, owner,
                when_abandoned, retention_ms, created_at, claimed_at, deadline)
            VALUES (?, ?, ?, ?, 1, ?, ?, 1, ?, ?, ?, clock_timestamp(), clock_timestamp(),
                clock_timestamp() + ? * interval '1 millisecond')
            ON CONFLICT (id) DO NOTHING""";

    private static final String FINISH = """
            UPDATE floor_operation
            SET state = ?, finished_at = clock_timestamp(),
                deadline = clock_timestamp() + ? * interval '1 millisecond',
                code = ?, headers = ?, body = ?, error = ?
            WHERE id = ? AND token = ?""";

    private static final String READ =
            "SELECT state, fingerprint, code, headers, body FROM floor_operation WHERE id = ?";

    private static final long DAY_MS = 86_400_000;
    private static final long LEASE_MS = 30_000;

    static final byte[] FINGERPRINT = Payload.bytes(32);

    private final HikariDataSource pool;

    Floor(Lab lab, int poolSize) throws SQLException {
        this.pool = lab.pool(poolSize, Lab.WARM);
    }

    /** Claim, commit, the handler, finish, commit: the connection is in auto-commit mode, so each is one round trip. */
    @Override
    public void fresh() throws SQLException {
        UUID id = UUID.randomUUID();
        UUID token = UUID.randomUUID();
        require(claim(id, token) == 1);
        require(finish(id, token, Operations.handle()) == 1);
    }

    private int claim(UUID id, UUID token) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement insert = connection.prepareStatement(CLAIM)) {
            insert.setObject(1, id);
            insert.setString(2, ""); // tenant
            insert.setString(3, Operations.SCOPE); // scope
            insert.setString(4, id.toString()); // key
            insert.setBytes(5, FINGERPRINT); // fingerprint
            insert.setObject(6, token);
            insert.setString(7, "floor"); // owner
            insert.setInt(8, 0); // when_abandoned
            insert.setLong(9, DAY_MS); // retention_ms
            insert.setLong(10, LEASE_MS); // deadline
            return insert.executeUpdate();
        }
    }

    private int finish(UUID id, UUID token, byte[] body) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement update = connection.prepareStatement(FINISH)) {
            update.setInt(1, 2); // state
            update.setLong(2, DAY_MS); // deadline
            update.setInt(3, 0); // code
            update.setBytes(4, new byte[0]); // headers
            update.setBytes(5, body); // body
            update.setString(6, null); // error
            update.setObject(7, id);
            update.setObject(8, token);
            return update.executeUpdate();
        }
    }

    /** The ids of some finished operations. */
    List<UUID> some(int count) throws SQLException {
        List<UUID> ids = new ArrayList<>();
        try (Connection connection = pool.getConnection();
                PreparedStatement select =
                        connection.prepareStatement("SELECT id FROM floor_operation WHERE state = 2 LIMIT ?")) {
            select.setInt(1, count);
            try (ResultSet rows = select.executeQuery()) {
                while (rows.next()) {
                    ids.add(rows.getObject(1, UUID.class));
                }
            }
        }
        return ids;
    }

    void read(UUID id) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement select = connection.prepareStatement(READ)) {
            select.setObject(1, id);
            try (ResultSet row = select.executeQuery()) {
                require(row.next() && row.getBytes("fingerprint").length == 32 && row.getBytes("body").length > 0);
            }
        }
    }

    private static void require(boolean held) {
        if (!held) {
            throw new IllegalStateException("the floor did not do what it is measured for");
        }
    }

    @Override
    public void close() {
        pool.close();
    }
}
