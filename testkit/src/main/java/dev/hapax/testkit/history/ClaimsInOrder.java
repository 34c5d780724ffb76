package dev.hapax.testkit.history;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Claims count up, one number each unless they are given back unbegun, and stop at the first completion. */
final class ClaimsInOrder implements Rule {

    @Override
    public void check(OperationHistory history, Consumer<Violation> found) {
        Set<String> uncounted = history.byToken(Event.Uncounted.class).keySet();
        List<Event.Claimed> claims = history.all(Event.Claimed.class).stream()
                .filter(claim -> !uncounted.contains(claim.token()))
                .toList();
        checkRising(claims, found);
        checkDistinct(claims, found);
        checkNoneAfterCompletion(claims, history, found);
    }

    private static void checkRising(List<Event.Claimed> byStart, Consumer<Violation> found) {
        List<Event.Claimed> byEnd = byStart.stream()
                .sorted(Comparator.comparingLong(Event::endedAt))
                .toList();
        Event.@Nullable Claimed highest = null;
        int next = 0;
        for (Event.Claimed claim : byStart) {
            while (next < byEnd.size() && byEnd.get(next).call().surelyBefore(claim.call())) {
                highest = higher(highest, byEnd.get(next++));
            }
            if (highest != null && claim.attempt() < highest.attempt()) {
                found.accept(notHigher(highest, claim));
            }
        }
    }

    private static Event.Claimed higher(Event.@Nullable Claimed a, Event.Claimed b) {
        return a != null && a.attempt() >= b.attempt() ? a : b;
    }

    /** A claim that was sent again and recorded twice has the same number rightly, and the same token. */
    private static void checkDistinct(List<Event.Claimed> claims, Consumer<Violation> found) {
        Map<Integer, Event.Claimed> byAttempt = new HashMap<>();
        for (Event.Claimed claim : claims) {
            Event.Claimed earlier = byAttempt.putIfAbsent(claim.attempt(), claim);
            if (earlier != null && !earlier.token().equals(claim.token())) {
                found.accept(notHigher(earlier, claim));
            }
        }
    }

    private static Violation notHigher(Event.Claimed earlier, Event.Claimed later) {
        return Violation.of(
                Violation.Kind.ATTEMPT_NOT_HIGHER,
                "attempt %d of %s was followed by attempt %d of %s"
                        .formatted(earlier.attempt(), earlier.token(), later.attempt(), later.token()),
                earlier,
                later);
    }

    private static void checkNoneAfterCompletion(
            List<Event.Claimed> claims, OperationHistory history, Consumer<Violation> found) {
        history.all(Event.Completed.class).stream()
                .min(Comparator.comparingLong(Event::endedAt))
                .ifPresent(completed -> claims.stream()
                        .filter(claim -> completed.call().surelyBefore(claim.call()))
                        .map(claim -> claimedAgain(completed, claim))
                        .forEach(found));
    }

    private static Violation claimedAgain(Event.Completed completed, Event.Claimed claim) {
        return Violation.of(
                Violation.Kind.CLAIMED_AFTER_COMPLETION,
                "%s claimed it though %s had completed it".formatted(claim.token(), completed.token()),
                completed,
                claim);
    }
}
