package dev.hapax.testkit.history;

import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Two tokens never hold the lease at one instant. A sweep over time: n log n in the number of claims and renewals. */
final class TwoOwners implements Rule {

    private final long clockError;

    TwoOwners(long clockError) {
        this.clockError = clockError;
    }

    @Override
    public void check(OperationHistory history, Consumer<Violation> found) {
        List<HeldLease> leases = leases(history);
        List<HeldLease> byStart = leases.stream()
                .filter(lease -> !lease.isEmpty())
                .sorted(Comparator.comparingLong(HeldLease::from))
                .toList();
        Set<Set<String>> told = new HashSet<>();
        LastToEnd open = new LastToEnd();
        int next = 0;
        for (HeldLease lease : leases) {
            while (next < byStart.size() && byStart.get(next).from() <= lease.contradictsFrom()) {
                open.add(byStart.get(next++));
            }
            HeldLease rival = open.otherThan(lease.token());
            if (rival != null && lease.from() < rival.until() && told.add(Set.of(lease.token(), rival.token()))) {
                found.accept(violation(rival, lease));
            }
        }
    }

    private List<HeldLease> leases(OperationHistory history) {
        Map<String, Long> firstEnds = firstEnds(history);
        return history.all(Event.Leasing.class).stream()
                .map(by -> HeldLease.of(by, firstEnds.getOrDefault(by.token(), Long.MAX_VALUE), clockError))
                .sorted(Comparator.comparingLong(HeldLease::contradictsFrom))
                .toList();
    }

    private static Map<String, Long> firstEnds(OperationHistory history) {
        Map<String, Long> firstEnds = new HashMap<>();
        Stream.of(
                        Event.Completing.class,
                        Event.Completed.class,
                        Event.Releasing.class,
                        Event.Released.class,
                        Event.Refused.class)
                .flatMap(type -> history.all(type).stream())
                .forEach(end -> firstEnds.merge(end.token(), end.startedAt(), Math::min));
        return firstEnds;
    }

    private static Violation violation(HeldLease holder, HeldLease rival) {
        return Violation.of(
                Violation.Kind.TWO_OWNERS,
                "%s held the lease from %d until at least %d, and %s had it too by %d"
                        .formatted(holder.token(), holder.from(), holder.until(), rival.token(), rival.from()),
                holder.by(),
                rival.by());
    }

    /** Of the leases seen so far the one that ends last, and the one that ends last among the other tokens. */
    private static final class LastToEnd {

        private @Nullable HeldLease first;
        private @Nullable HeldLease second;

        void add(HeldLease lease) {
            if (first == null || lease.token().equals(first.token())) {
                first = later(first, lease);
            } else if (lease.until() > first.until()) {
                second = first;
                first = lease;
            } else {
                second = later(second, lease);
            }
        }

        @Nullable
        HeldLease otherThan(String token) {
            return first != null && first.token().equals(token) ? second : first;
        }

        private static HeldLease later(@Nullable HeldLease a, HeldLease b) {
            return a != null && a.until() >= b.until() ? a : b;
        }
    }
}
