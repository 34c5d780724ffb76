package dev.hapax.testkit.history;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Decides whether a correct store could have shown a history to its callers.
 *
 * <h2>What is known, and what is not</h2>
 *
 * A caller knows when it called and when it was answered; the store acted at some instant between. Nothing here picks
 * that instant. Each rule takes what holds for <em>every</em> choice, so a legal history is never reported; an illegal
 * one that some choice of instants would excuse is not reported either. That is the price, and it is small: calls last
 * a millisecond, leases and handlers much longer.
 *
 * <p><b>A lease is surely held</b> from the answer to the claim or renewal, since by then it was granted, until the
 * call plus the lease, since it was not granted before the call and so cannot lapse sooner. It ends earlier if its
 * owner <em>may</em> have ended it: from the moment it was about to complete or release, or was refused. Two tokens
 * that surely hold at one instant are two owners. So is a token whose whole call lies in the time that another surely
 * held: it was granted at some instant in there, whichever that was. A lease that ran out while its owner was stopped
 * is not surely held, and who takes over is no rival.
 *
 * <p><b>A stale owner needs no clock.</b> The row's token changes with every claim and never changes back. If one token
 * claimed, another claimed surely later, and then, surely later still, a write of the first was accepted, the store did
 * not compare tokens. Whether the first one's lease had run out does not matter. Conversely a late write is legal as
 * long as nobody else has claimed: lapsed is not lost.
 *
 * <p><b>Results need no order.</b> A stored result is never replaced, so all completions and all answers carry the same
 * one. An answer must come after somebody was about to store that result; not after it was <em>known</em> to be stored,
 * as that knowledge dies with a killed process while the row lives on.
 *
 * <p><b>Attempts</b> are numbered by the store, one per claim. Numbers may be missing (a claimer killed before it wrote
 * its line) but not repeat between tokens, and not fall between claims that are surely ordered.
 *
 * <p><b>A handler begins within its lease</b>, as its owner can know it: counted from when the claim or renewal was
 * sent, and only once its answer was there.
 *
 * <p><b>Ending.</b> The run must ask for every operation until it has its end, because nobody can tell an operation
 * that is stuck from one that nobody asked for again. Excused are: a last claim that was given back; one whose owner
 * was killed, if its lease may have outlived the run; one whose owner was killed while completing. Where several claims
 * may have been the last, one excuse is enough.
 *
 * <h2>What is assumed</h2>
 *
 * All processes ran on one Linux host, where {@link System#nanoTime} is one clock. The store's own clock may be off
 * from it over the length of one lease by no more than the clock error, 20 ms unless said otherwise; where a test makes
 * clocks jump, say the size of the jump, or more than the lease to judge by tokens alone. Renewals do not shorten a
 * lease. The rules for writing events down are with {@link Event}.
 *
 * <p>Thread-safe, as it keeps nothing.
 */
public final class HistoryChecker {

    private static final Duration CLOCK_ERROR = Duration.ofMillis(20);
    private static final int SHOWN = 20;

    private HistoryChecker() {}

    /** All violations of a history, grouped by operation; empty if a correct store could have shown it. */
    public static List<Violation> check(History history) {
        return check(history, CLOCK_ERROR);
    }

    /** The same, where the store's clock may be off by so much over one lease. */
    public static List<Violation> check(History history, Duration clockError) {
        List<Rule> rules = List.of(
                new TwoOwners(clockError.toNanos()),
                new StaleOwner(),
                new OneResult(),
                new ClaimsInOrder(),
                new RanOnce(),
                new WithinLease(clockError.toNanos()),
                new ComesToAnEnd(abandonedAt(history), endOf(history)));
        List<Violation> found = new ArrayList<>();
        for (OperationHistory operation : byOperation(history)) {
            rules.forEach(rule -> rule.check(operation, found::add));
        }
        return List.copyOf(found);
    }

    /**
     * Passes if a correct store could have shown this history.
     *
     * @throws AssertionError with the first 20 violations
     */
    public static void assertClean(History history) {
        assertClean(history, CLOCK_ERROR);
    }

    /**
     * The same, where the store's clock may be off by so much over one lease.
     *
     * @throws AssertionError with the first 20 violations
     */
    public static void assertClean(History history, Duration clockError) {
        List<Violation> violations = check(history, clockError);
        if (!violations.isEmpty()) {
            throw new AssertionError(violations.size() + " violations in a history of "
                    + history.events().size() + " events:\n"
                    + violations.stream().limit(SHOWN).map(Violation::toString).collect(Collectors.joining("\n")));
        }
    }

    private static Iterable<OperationHistory> byOperation(History history) {
        Map<String, List<Event.OfOperation>> groups = new LinkedHashMap<>();
        for (Event event : history.events()) {
            if (event instanceof Event.OfOperation one) {
                groups.computeIfAbsent(one.operation(), any -> new ArrayList<>())
                        .add(one);
            }
        }
        return groups.entrySet().stream()
                .map(group -> new OperationHistory(group.getKey(), group.getValue()))
                .toList();
    }

    private static Map<String, Long> abandonedAt(History history) {
        Map<String, Long> abandonedAt = new HashMap<>();
        for (Event event : history.events()) {
            if (event instanceof Event.Abandoned abandoned) {
                abandonedAt.merge(abandoned.owner(), abandoned.at(), Math::max);
            }
        }
        return abandonedAt;
    }

    private static long endOf(History history) {
        return history.events().stream().mapToLong(Event::endedAt).max().orElse(0);
    }
}
