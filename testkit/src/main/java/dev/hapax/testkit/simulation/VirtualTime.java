package dev.hapax.testkit.simulation;

import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.PriorityQueue;

/**
 * The one clock and the one agenda of a simulation. What happens at one instant happens in the order it was planned.
 */
final class VirtualTime implements InstantSource {
    private static final Instant ORIGIN = Instant.parse("2026-01-01T00:00:00Z");

    private final PriorityQueue<Step> agenda =
            new PriorityQueue<>(Comparator.comparingLong(Step::at).thenComparingLong(Step::number));
    private long now;
    private long planned;

    private record Step(long at, long number, Runnable action) {}

    /** Nanoseconds since the simulation began. */
    long now() {
        return now;
    }

    @Override
    public Instant instant() {
        return ORIGIN.plusNanos(now);
    }

    void at(long instant, Runnable action) {
        agenda.add(new Step(Math.max(now, instant), planned++, action));
    }

    /** Does what was planned, and what that plans in turn, until an instant. */
    void run(long until) {
        Step next = agenda.peek();
        while (next != null && next.at() <= until) {
            agenda.remove();
            now = next.at();
            next.action().run();
            next = agenda.peek();
        }
        now = Math.max(now, until);
    }
}
