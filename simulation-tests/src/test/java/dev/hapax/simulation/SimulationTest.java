package dev.hapax.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.testkit.simulation.FaultKind;
import dev.hapax.testkit.simulation.Simulation;
import java.time.Duration;
import java.util.EnumSet;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Explores for a minute, with a fixed and a fresh seed; {@code ./hapax simulate} goes on for longer. */
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
}
