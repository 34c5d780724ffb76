package dev.hapax.testkit.history;

import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A claimed operation gets a result, or is given up, unless its last claim was given back or died with its process too
 * late for anybody to take over.
 */
final class ComesToAnEnd implements Rule {

    private final Map<String, Long> abandonedAt;
    private final long runEndedAt;

    ComesToAnEnd(Map<String, Long> abandonedAt, long runEndedAt) {
        this.abandonedAt = abandonedAt;
        this.runEndedAt = runEndedAt;
    }

    @Override
    public void check(OperationHistory history, Consumer<Violation> found) {
        List<Event.Claimed> claims = history.all(Event.Claimed.class);
        if (claims.isEmpty() || hasEnd(history)) {
            return;
        }
        long lastStart = claims.get(claims.size() - 1).startedAt();
        List<Event.Claimed> maybeLast =
                claims.stream().filter(claim -> claim.endedAt() >= lastStart).toList();
        if (maybeLast.stream().noneMatch(claim -> isExcused(claim, history))) {
            found.accept(neverEnded(maybeLast.get(0)));
        }
    }

    private static boolean hasEnd(OperationHistory history) {
        return history.has(Event.Completed.class)
                || history.has(Event.Answered.class)
                || history.has(Event.GivenUp.class);
    }

    private boolean isExcused(Event.Claimed claim, OperationHistory history) {
        if (says(history, Event.Released.class, claim) || says(history, Event.Releasing.class, claim)) {
            return true;
        }
        Long killedAt = abandonedAt.get(claim.owner());
        return killedAt != null && (says(history, Event.Completing.class, claim) || mayStillHold(claim, killedAt));
    }

    private static boolean says(OperationHistory history, Class<? extends Event.OfToken> what, Event.Claimed claim) {
        return history.all(what).stream().anyMatch(event -> event.token().equals(claim.token()));
    }

    /** Counted from the death of the owner, since it may have renewed until then without a record of it. */
    private boolean mayStillHold(Event.Claimed claim, long killedAt) {
        return HeldLease.plus(Math.max(killedAt, claim.endedAt()), claim.leaseNanos()) >= runEndedAt;
    }

    private static Violation neverEnded(Event.Claimed claim) {
        return Violation.of(
                Violation.Kind.NEVER_ENDED, "%s claimed it, and it came to no end".formatted(claim.token()), claim);
    }
}
