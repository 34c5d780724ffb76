package dev.hapax.testkit.history;

import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A handler begins, and is told that it still has its lease, only while a claim or renewal that its owner heard of
 * lasts, counted from when it was sent. Owners whose grants were not written down are not judged.
 */
final class WithinLease implements Rule {
    private final long clockError;

    WithinLease(long clockError) {
        this.clockError = clockError;
    }

    @Override
    public void check(OperationHistory history, Consumer<Violation> found) {
        Map<String, List<Event.Granted>> grants = history.byToken(Event.Granted.class);
        for (Event.Ran run : history.all(Event.Ran.class)) {
            check(run, run.at(), Violation.Kind.BEGAN_TOO_LATE, grants, found);
        }
        for (Event.Holding holding : history.all(Event.Holding.class)) {
            check(holding, holding.at(), Violation.Kind.HELD_TOO_LONG, grants, found);
        }
    }

    private void check(
            Event.OfToken event,
            long at,
            Violation.Kind kind,
            Map<String, List<Event.Granted>> grants,
            Consumer<Violation> found) {
        List<Event.Granted> own = grants.get(event.token());
        if (own != null && own.stream().noneMatch(grant -> covers(grant, at))) {
            found.accept(Violation.of(
                    kind,
                    "no claim or renewal that %s had heard of lasted until %d".formatted(event.token(), at),
                    event,
                    own.get(own.size() - 1)));
        }
    }

    private boolean covers(Event.Granted grant, long at) {
        return grant.call().answeredAt() <= at
                && at <= HeldLease.plus(grant.call().calledAt(), grant.leaseNanos() + clockError);
    }
}
