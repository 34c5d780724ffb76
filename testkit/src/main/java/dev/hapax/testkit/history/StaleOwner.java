package dev.hapax.testkit.history;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Whoever lost the claim can do nothing any more: no write is accepted once another token has surely claimed. */
final class StaleOwner implements Rule {

    @Override
    public void check(OperationHistory history, Consumer<Violation> found) {
        List<Event.Claimed> claims = history.all(Event.Claimed.class);
        Map<String, List<Event.Claimed>> byToken = history.byToken(Event.Claimed.class);
        for (Event.Call write : history.all(Event.Call.class)) {
            if (write instanceof Event.Claimed || write instanceof Event.Refused) {
                continue;
            }
            lastClaimBefore(write, byToken.getOrDefault(write.token(), List.of()))
                    .ifPresentOrElse(
                            own -> successor(own, write, claims)
                                    .ifPresent(other -> found.accept(overtaken(own, other, write))),
                            () -> found.accept(unclaimed(write)));
        }
    }

    private static Optional<Event.Claimed> lastClaimBefore(Event.Call write, List<Event.Claimed> own) {
        return own.stream()
                .filter(claim -> claim.startedAt() <= write.endedAt())
                .reduce((a, b) -> a.endedAt() > b.endedAt() ? a : b);
    }

    private static Optional<Event.Claimed> successor(
            Event.Claimed own, Event.Call write, List<Event.Claimed> claimsByStart) {
        for (int i = firstAfter(own.endedAt(), claimsByStart); i < claimsByStart.size(); i++) {
            Event.Claimed other = claimsByStart.get(i);
            if (other.startedAt() >= write.startedAt()) {
                break;
            }
            if (!other.token().equals(own.token()) && other.call().surelyBefore(write.call())) {
                return Optional.of(other);
            }
        }
        return Optional.empty();
    }

    private static int firstAfter(long instant, List<Event.Claimed> claimsByStart) {
        int low = 0;
        int high = claimsByStart.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (claimsByStart.get(middle).startedAt() > instant) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    private static Violation overtaken(Event.Claimed own, Event.Claimed other, Event.Call write) {
        return Violation.of(
                Violation.Kind.STALE_OWNER,
                "%s by %s was accepted after %s had taken the claim over"
                        .formatted(name(write), write.token(), other.token()),
                write,
                own,
                other);
    }

    private static Violation unclaimed(Event.Call write) {
        return Violation.of(
                Violation.Kind.STALE_OWNER,
                "%s by %s was accepted though it had claimed nothing".formatted(name(write), write.token()),
                write);
    }

    private static String name(Event.Call write) {
        return write.getClass().getSimpleName();
    }
}
