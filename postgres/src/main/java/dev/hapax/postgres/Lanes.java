package dev.hapax.postgres;

import dev.hapax.store.OperationId;
import java.util.ArrayList;
import java.util.List;

/**
 * Lanes for the same work, of which all are used only while there is much to do: one computes while another waits for
 * the disk. A few jobs go through the first lane alone, in fewer rounds, because each round costs a commit and wakes
 * several threads however little it does. Safe for use by many threads.
 */
final class Lanes<Q, A> {
    private static final int MANY = 40;
    private static final int FEW = 24;
    private static final double WEIGHT_OF_A_ROUND = 0.1;

    private final List<Lane<Q, A>> lanes = new ArrayList<>();
    private volatile double usualDemand;
    private volatile boolean allUsed;

    Lanes(int count, Lane.Work<Q, A> work, LaneSettings settings) {
        for (int i = 0; i < count; i++) {
            lanes.add(new Lane<>(work, settings, this::learn));
        }
    }

    Lane<Q, A> first() {
        return lanes.get(0);
    }

    /**
     * The same for the same operation, most of the time: its claims meet in a round, and do not wait for each other.
     */
    Lane<Q, A> of(OperationId id) {
        return allUsed ? lanes.get(Math.floorMod(id.value().hashCode(), lanes.size())) : first();
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // a round that goes uncounted does no harm
    private void learn(int jobsOfOne) {
        int jobs = allUsed ? jobsOfOne * lanes.size() : jobsOfOne;
        usualDemand += WEIGHT_OF_A_ROUND * (jobs - usualDemand);
        allUsed = usualDemand > (allUsed ? FEW : MANY);
    }
}
