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
final class LookWork implements Lane.Work<OperationId, Optional<Snapshot>> {
    private final Session.Guard guard;

    LookWork(Duration lockTimeout) {
        this.guard = Session.Guard.byKey(lockTimeout);
    }

    @Override
    public OperationId id(OperationId id) {
        return id;
    }

    @Override
    public List<Optional<Snapshot>> run(Session session, Lane.LockWait wait, List<OperationId> ids)
            throws SQLException {
        Map<OperationId, Snapshot> found = Rows.find(session, guard, Set.copyOf(ids));
        return ids.stream().map(id -> Optional.ofNullable(found.get(id))).toList();
    }
}
