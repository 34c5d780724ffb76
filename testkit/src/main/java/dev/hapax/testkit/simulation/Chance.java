package dev.hapax.testkit.simulation;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** All that is random in one simulated run, drawn from its seed, and how often each fault struck. */
final class Chance {
    private final SplittableRandom random;
    private final Map<FaultKind, Integer> struck = new EnumMap<>(FaultKind.class);
    private final Map<FaultKind, Integer> oneIn = new EnumMap<>(FaultKind.class);
    private boolean healed;

    Chance(long seed) {
        this.random = new SplittableRandom(seed);
        for (FaultKind kind : FaultKind.values()) {
            // Each run has a climate of its own: some faults often, some rarely, some not at all.
            oneIn.put(kind, pick(List.of(0, 0, 8, 20, 60)));
        }
    }

    /** Whether a fault strikes now. */
    boolean strikes(FaultKind kind) {
        int often = oneIn.getOrDefault(kind, 0);
        boolean struckNow = !healed && often > 0 && random.nextInt(often) == 0;
        if (struckNow) {
            struck.merge(kind, 1, Integer::sum);
        }
        return struckNow;
    }

    /** From now on nothing goes wrong any more. */
    void heal() {
        healed = true;
    }

    Map<FaultKind, Integer> struck() {
        return struck;
    }

    boolean oneIn(int n) {
        return random.nextInt(n) == 0;
    }

    int below(int bound) {
        return random.nextInt(bound);
    }

    <T> T pick(List<T> among) {
        return among.get(random.nextInt(among.size()));
    }

    /** Up to so long, short ones more often. */
    long nanosUpTo(Duration longest) {
        double share = random.nextDouble();
        return 1 + (long) (share * share * longest.toNanos());
    }

    double between(double low, double high) {
        return random.nextDouble(low, high);
    }
}
