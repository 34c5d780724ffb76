package dev.hapax.store;

/**
 * What one round of sweeping did, by what became of the operations.
 *
 * @param removed ended operations past their retention
 * @param reopened leases that ran out and may run again: each is a crashed or stalled worker
 * @param failed leases that ran out under {@link WhenAbandoned#FAIL}
 * @param parked leases that ran out under {@link WhenAbandoned#PARK}
 * @param timedOut pending operations that nobody came for
 */
public record Swept(int removed, int reopened, int failed, int parked, int timedOut) {
    public static final Swept NOTHING = new Swept(0, 0, 0, 0, 0);

    public int total() {
        return removed + reclaimed() + timedOut;
    }

    /** Leases that ran out, whatever became of them. */
    public int reclaimed() {
        return reopened + failed + parked;
    }

    public Swept plus(Swept other) {
        return new Swept(
                removed + other.removed,
                reopened + other.reopened,
                failed + other.failed,
                parked + other.parked,
                timedOut + other.timedOut);
    }
}
