package dev.hapax.store;

import java.util.ArrayList;
import java.util.List;

/**
 * What one batch of sweeping did, by what became of the operations.
 *
 * @param removed ended operations past their retention
 * @param timedOut pending operations that were not claimed in time
 * @param reclaimed operations whose lease had run out: for each, a worker crashed or stalled
 */
public record Swept(int removed, int timedOut, List<Reclaimed> reclaimed) {
    public static final Swept NOTHING = new Swept(0, 0, List.of());

    public Swept {
        reclaimed = List.copyOf(reclaimed);
    }

    /** An expired lease, and the state that its operation has now. */
    public record Reclaimed(ExpiredLease lease, State state) {}

    public int total() {
        return removed + timedOut + reclaimed.size();
    }

    /** How many of the reclaimed operations may run again. */
    public int reopened() {
        return count(State.PENDING);
    }

    /** How many of them failed, under {@link WhenAbandoned#FAIL}. */
    public int failed() {
        return count(State.FAILED);
    }

    /** How many of them were parked, under {@link WhenAbandoned#PARK}. */
    public int parked() {
        return count(State.IN_DOUBT);
    }

    private int count(State state) {
        return (int) reclaimed.stream().filter(it -> it.state() == state).count();
    }

    public Swept plus(Swept other) {
        List<Reclaimed> both = new ArrayList<>(reclaimed);
        both.addAll(other.reclaimed);
        return new Swept(removed + other.removed, timedOut + other.timedOut, both);
    }
}
