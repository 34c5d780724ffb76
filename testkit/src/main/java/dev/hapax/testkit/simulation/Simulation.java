package dev.hapax.testkit.simulation;

import dev.hapax.testkit.history.Violation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/**
 * Explores what the engine promises. The real engine runs in several instances, with its lease keeper, waiters and
 * sweeper, on one thread, over simulated time and the memory store, while everything that can go wrong does. Many short
 * runs follow each other, each with a seed of its own that is drawn from the first one. A seed repeats its run exactly.
 *
 * <p>Not safe for use by many threads; use one for each.
 */
public final class Simulation {
    private static final int TRACE_LINES = 60;

    private final SplittableRandom seeds;
    private final Map<FaultKind, Long> faults = new EnumMap<>(FaultKind.class);
    private long runs;
    private long operations;
    private long attempts;
    private long violations;
    private final List<Finding> findings = new ArrayList<>();

    /**
     * A run that broke a promise.
     *
     * @param seed repeats the run
     * @param trace what happened to the operation, human-readable
     */
    public record Finding(long seed, Violation violation, List<String> trace) {
        @Override
        public String toString() {
            return "%s in %s: %s%n  seed %d%n  %s"
                    .formatted(
                            violation.kind(),
                            violation.operation(),
                            violation.sentence(),
                            seed,
                            String.join("\n  ", trace));
        }
    }

    /** What was explored so far. */
    public record Progress(long runs, long operations, long attempts, long violations, Map<FaultKind, Long> faults) {}

    /** @param seed the first run's; the others are drawn from it */
    public Simulation(long seed) {
        this.seeds = new SplittableRandom(seed);
    }

    /**
     * Explores for so long, or until so many runs broke a promise.
     *
     * @param progress is told after every run
     */
    public void explore(Duration atMost, int mostFindings, Consumer<Progress> progress) {
        long until = System.nanoTime() + atMost.toNanos();
        while (System.nanoTime() - until < 0 && findings.size() < mostFindings) {
            run(seeds.nextLong());
            progress.accept(progress());
        }
    }

    /** One run. */
    public void run(long seed) {
        SimulationResult result = new SimulatedRun(seed, false).run();
        runs++;
        operations += result.operations();
        attempts += result.attempts();
        result.faults().forEach((kind, count) -> faults.merge(kind, (long) count, Long::sum));
        violations += result.violations().size();
        if (!result.violations().isEmpty()) {
            findings.add(trace(seed, result.violations().get(0)));
        }
    }

    private static Finding trace(long seed, Violation violation) {
        List<String> trace = new SimulatedRun(seed, true).run().traceOf().apply(violation);
        int first = Math.max(0, trace.size() - TRACE_LINES);
        return new Finding(seed, violation, List.copyOf(trace.subList(first, trace.size())));
    }

    public Progress progress() {
        return new Progress(runs, operations, attempts, violations, Map.copyOf(faults));
    }

    /** The runs that broke a promise, the first violation of each. */
    public List<Finding> findings() {
        return List.copyOf(findings);
    }
}
