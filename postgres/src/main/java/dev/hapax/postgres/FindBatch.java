package dev.hapax.postgres;

import dev.hapax.store.OperationId;
import dev.hapax.store.Snapshot;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Looks operations up: whoever asks at the same time asks with one statement. */
final class FindBatch implements BatchWork<OperationId, Optional<Snapshot>> {
    private final Duration lockWaitTimeout;
    private final StatementSettings settings;

    FindBatch(Duration lockTimeout, Duration lockWaitTimeout) {
        this.lockWaitTimeout = lockWaitTimeout;
        this.settings = StatementSettings.byKey(lockTimeout);
    }

    @Override
    public OperationId id(OperationId id) {
        return id;
    }

    @Override
    public Duration lockWaitTimeout(OperationId id) {
        return lockWaitTimeout;
    }

    @Override
    public List<Decision<Optional<Snapshot>>> run(Session session, LockWait wait, List<OperationId> ids)
            throws SQLException {
        Map<OperationId, Snapshot> found = Rows.find(session, settings, Set.copyOf(ids));
        return ids.stream()
                .map(id -> Decision.answer(Optional.ofNullable(found.get(id))))
                .toList();
    }
}
