package dev.hapax.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The simulation is only worth what it finds: each mutant has to be caught. */
class MutantsTest {
    static final Path SOURCES = Path.of(System.getProperty("basedir", "."), "../core/src/main/java");
    private static final long SEED = 1;

    /**
     * The same seed catches a mutant after as many operations every time; how long that takes depends on the machine.
     */
    private static final Duration LIMIT = Duration.ofMinutes(5);

    static Stream<Mutant> mutants() {
        return Mutant.all().stream();
    }

    @ParameterizedTest
    @MethodSource("mutants")
    void isCaughtBySimulation(Mutant mutant) throws Exception {
        MutantHunt.Catch caught = MutantHunt.on(mutant, SOURCES, SEED, LIMIT);

        System.out.printf(
                "%-75s %s after %,d operations, %.1f s%n",
                mutant.what(), caught.violation(), caught.operations(), caught.seconds());
        assertThat(caught.violation()).as(mutant.what()).isNotNull();
    }
}
