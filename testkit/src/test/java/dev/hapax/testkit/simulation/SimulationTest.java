package dev.hapax.testkit.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SimulationTest {
    private static final long FIXED_SEED = 20_261_116;
    private static final Duration EACH = Duration.ofSeconds(Integer.getInteger("hapax.simulate.seconds", 30));

    @Test
    void everyPromiseHoldsWithAFixedSeed() {
        explore(FIXED_SEED);
    }

    @Test
    void everyPromiseHoldsWithAFreshSeed() {
        explore(new SplittableRandom().nextLong());
    }

    private static void explore(long seed) {
        System.out.println("Simulating with seed " + seed);
        Simulation simulation = new Simulation(seed);
        simulation.explore(EACH, 1, progress -> {});

        System.out.println(simulation.progress());
        assertThat(simulation.findings()).as("seed %d", seed).isEmpty();
        assertThat(simulation.progress().faults().keySet())
                .as("every fault struck")
                .isEqualTo(EnumSet.allOf(FaultKind.class));
    }

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
