package dev.hapax.testkit.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SimulatedRunTest {
    private static final long FIXED_SEED = 20_261_116;

    @Test
    void seedRepeatsItsRunExactly() {
        SplittableRandom seeds = new SplittableRandom(FIXED_SEED);
        for (int i = 0; i < 50; i++) {
            long seed = seeds.nextLong();

            assertThat(trace(seed)).as("seed %d", seed).isNotEmpty().isEqualTo(trace(seed));
        }
    }

    private static List<String> trace(long seed) {
        return new SimulatedRun(seed, true).run().wholeTrace().get();
    }
}
