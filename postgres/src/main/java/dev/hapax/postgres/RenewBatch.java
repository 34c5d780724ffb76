package dev.hapax.postgres;

import dev.hapax.store.OperationId;
import dev.hapax.store.Renewal;
import dev.hapax.store.RenewalStatus;
import dev.hapax.store.Snapshot;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Prolongs leases. A renewal that changed nothing looks again, to tell a loss from an operation that it ended itself.
 */
final class RenewBatch implements BatchWork<Renewal, RenewalStatus> {
    private static final String RENEW = """
            UPDATE hapax_operation AS o
            SET deadline = clock_timestamp() + r.lease_ms * interval '1 millisecond'
            FROM unnest(?::uuid[], ?::uuid[], ?::int8[]) AS r (id, token, lease_ms)
            WHERE o.id = r.id AND o.token = r.token AND o.state = 1
            RETURNING o.token""";

    private static final Columns<Renewal> COLUMNS = new Columns<Renewal>()
            .uuid(renewal -> renewal.id().value()) // id
            .uuid(Renewal::token) // token
            .int8(renewal -> renewal.lease().toMillis()); // lease_ms

    private final StatementSettings shortWait;
    private final StatementSettings noWait = StatementSettings.byKey(Duration.ofMillis(1));

    RenewBatch(Duration lockTimeout) {
        shortWait = StatementSettings.byKey(lockTimeout);
    }

    @Override
    public OperationId id(Renewal renewal) {
        return renewal.id();
    }

    /** A renewal that meets a lock is not repeated: the next one comes by itself. */
    @Override
    public Duration lockWaitTimeout(Renewal renewal) {
        return Duration.ZERO;
    }

    @Override
    public List<Decision<RenewalStatus>> run(Session session, LockWait wait, List<Renewal> renewals)
            throws SQLException {
        StatementSettings settings = wait == LockWait.SHORT ? shortWait : noWait;
        Set<UUID> renewed = COLUMNS.run(session, settings, RENEW, renewals);
        Set<OperationId> unchanged = renewals.stream()
                .filter(renewal -> !renewed.contains(renewal.token()))
                .map(Renewal::id)
                .collect(Collectors.toSet());
        Map<OperationId, Snapshot> found = unchanged.isEmpty() ? Map.of() : Rows.find(session, settings, unchanged);
        return renewals.stream()
                .map(renewal -> renewed.contains(renewal.token())
                        ? RenewalStatus.RENEWED
                        : unchanged(renewal, found.get(renewal.id())))
                .map(Decision::answer)
                .toList();
    }

    private static RenewalStatus unchanged(Renewal renewal, @Nullable Snapshot row) {
        return row != null && row.token().equals(renewal.token()) ? RenewalStatus.UNKNOWN : RenewalStatus.LOST;
    }
}
