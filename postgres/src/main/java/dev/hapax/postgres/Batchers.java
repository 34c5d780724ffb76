package dev.hapax.postgres;

import dev.hapax.store.OperationId;
import java.util.ArrayList;
import java.util.List;

/**
 * Batchers for the same work, of which all are used only under high load: one computes while another waits for the
 * disk. Under low load the first one sends everything, in fewer batches, because each batch costs a commit and wakes
 * several threads however little it does. Safe for use by many threads.
 */
final class Batchers<Q, A> {
    private static final int MANY = 40;
    private static final int FEW = 24;
    private static final double WEIGHT_OF_A_BATCH = 0.1;

    private final List<Batcher<Q, A>> batchers = new ArrayList<>();
    private volatile double usualLoad;
    private volatile boolean allUsed;

    Batchers(int count, BatchWork<Q, A> work, BatcherSettings settings) {
        for (int i = 0; i < count; i++) {
            batchers.add(new Batcher<>(work, settings, this::learn));
        }
    }

    Batcher<Q, A> first() {
        return batchers.get(0);
    }

    /**
     * The same for the same operation, most of the time: its claims meet in a batch, and do not wait for each other.
     */
    Batcher<Q, A> of(OperationId id) {
        return allUsed ? batchers.get(Math.floorMod(id.value().hashCode(), batchers.size())) : first();
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // a batch that goes uncounted does no harm
    private void learn(int queued) {
        int total = allUsed ? queued * batchers.size() : queued;
        usualLoad += WEIGHT_OF_A_BATCH * (total - usualLoad);
        allUsed = usualLoad > (allUsed ? FEW : MANY);
    }
}
