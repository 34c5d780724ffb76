package dev.hapax.postgres;

import dev.hapax.store.Claim;
import java.util.List;

/** The share of replays among the latest claims, approximately. Safe for use by many threads. */
final class ReplayRatio {
    private static final double WEIGHT_OF_A_BATCH = 0.2;

    private volatile double share;

    /** Whether most claims were replays. */
    boolean isHigh() {
        return share > 0.5;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // a batch that goes uncounted does no harm
    void learn(List<Decision<Claim>> decisions) {
        if (decisions.isEmpty()) {
            return;
        }
        long replays = decisions.stream().filter(ReplayRatio::isReplay).count();
        share += WEIGHT_OF_A_BATCH * ((double) replays / decisions.size() - share);
    }

    private static boolean isReplay(Decision<Claim> decision) {
        return decision instanceof Decision.Answered<Claim> answered && answered.answer() instanceof Claim.Replay;
    }
}
