package dev.hapax.postgres;

import dev.hapax.store.Claim;
import java.util.List;

/** How many claims of late were repeats of what has ended. Safe for use by many threads, who see it about right. */
final class Repeats {
    private static final double WEIGHT_OF_A_ROUND = 0.2;

    private volatile double share;

    /** Whether most were. */
    boolean prevail() {
        return share > 0.5;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // a round that goes uncounted does no harm
    void learn(List<Decision<Claim>> decisions) {
        long replays = decisions.stream().filter(Repeats::isReplay).count();
        share += WEIGHT_OF_A_ROUND * ((double) replays / decisions.size() - share);
    }

    private static boolean isReplay(Decision<Claim> decision) {
        return decision instanceof Decision.Answered<Claim> answered && answered.answer() instanceof Claim.Replay;
    }
}
