package dev.hapax.testkit.simulation;

import dev.hapax.testkit.history.Violation;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * What came of one simulated run.
 *
 * @param operations calls of the engine
 * @param attempts handlers that were begun
 * @param wholeTrace everything that happened, if the run was traced
 * @param traceOf what happened until a promise was broken, if the run was traced
 */
record SimulationResult(
        int operations,
        int attempts,
        Map<FaultKind, Integer> faults,
        List<Violation> violations,
        Function<Violation, List<String>> traceOf,
        Supplier<List<String>> wholeTrace) {}
