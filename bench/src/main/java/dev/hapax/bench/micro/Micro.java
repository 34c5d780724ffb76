package dev.hapax.bench.micro;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Runs the benchmarks of this package with JMH, each in a JVM of its own unless there is no time for that. */
public final class Micro {
    /** The name of {@link #ENGINE}'s cost without that of {@link #STORE}. */
    public static final String ENGINE_OVERHEAD = "engine overhead";

    private static final String GARBAGE = "gc.alloc.rate.norm";
    private static final Step ENGINE =
            new Step(EngineCosts.class, "freshOperation", "fresh operation, engine and memory store");
    private static final Step STORE =
            new Step(EngineCosts.class, "storeAlone", "the same claim and finish, store alone");

    private static final List<Step> STEPS = List.of(
            new Step(HttpCosts.class, "keyHeader", "key from a header"),
            new Step(HttpCosts.class, "canonicalJson", "canonical JSON of 1 kB"),
            new Step(HttpCosts.class, "requestDigest", "digest of a request with 300 B of JSON"),
            new Step(ValueCosts.class, "fingerprint", "fingerprint of 300 B"),
            new Step(ValueCosts.class, "operationId", "operation id"),
            new Step(ValueCosts.class, "bytesCodec", "codec, 300 B there and back"),
            new Step(ValueCosts.class, "textCodec", "codec, text of 300 B there and back"),
            new Step(ValueCosts.class, "jacksonCodec", "codec, record as JSON there and back"),
            ENGINE,
            STORE,
            new Step(EngineCosts.class, "replay", "replay, engine and memory store"));

    private Micro() {}

    private record Step(Class<?> in, String method, String name) {
        String pattern() {
            return "^" + in.getName().replace(".", "\\.") + "\\." + method + "$";
        }
    }

    public static void main(String[] args) throws RunnerException {
        boolean quick = List.of(args).contains("--quick");
        System.out.print(table(run(quick, System.err::println)));
    }

    /**
     * Measures every step.
     *
     * @param quick whether a quarter of a minute must do, in this JVM: what else ran in it shows, and Java may not have
     *     compiled everything as well as it will
     * @return in the order in which an operation takes the steps, {@link #ENGINE_OVERHEAD} last
     */
    public static List<Cost> run(boolean quick, Consumer<String> progress) throws RunnerException {
        List<Cost> costs = new ArrayList<>();
        for (Step step : STEPS) {
            progress.accept(step.name());
            costs.add(measure(step, quick));
        }
        costs.add(costOf(ENGINE, costs).beyond(costOf(STORE, costs), ENGINE_OVERHEAD));
        return costs;
    }

    private static Cost costOf(Step step, List<Cost> costs) {
        return costs.get(STEPS.indexOf(step));
    }

    private static Cost measure(Step step, boolean quick) throws RunnerException {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .include(step.pattern())
                .mode(Mode.AverageTime)
                .timeUnit(TimeUnit.NANOSECONDS)
                .threads(1)
                .forks(quick ? 0 : 1)
                .jvmArgs("-Xms512m", "-Xmx512m")
                .addProfiler(GCProfiler.class)
                .verbosity(VerboseMode.SILENT)
                .shouldFailOnError(true);
        Collection<RunResult> results = new Runner(lasting(options, quick).build()).run();
        RunResult only = results.iterator().next();
        double garbage = Objects.requireNonNull(only.getSecondaryResults().get(GARBAGE), GARBAGE)
                .getScore();
        double middle = only.getPrimaryResult().getStatistics().getPercentile(50);
        return new Cost(step.name(), middle, garbage);
    }

    private static ChainedOptionsBuilder lasting(ChainedOptionsBuilder options, boolean quick) {
        return quick
                ? options.warmupIterations(1)
                        .warmupTime(TimeValue.milliseconds(250))
                        .measurementIterations(2)
                        .measurementTime(TimeValue.milliseconds(125))
                : options.warmupIterations(1)
                        .warmupTime(TimeValue.seconds(2))
                        .measurementIterations(5)
                        .measurementTime(TimeValue.milliseconds(200));
    }

    /** One line for each, aligned. */
    static String table(List<Cost> costs) {
        return costs.stream()
                .map(it -> "%-44s %,10.0f ns %,8.0f B%n".formatted(it.name(), it.nanos(), it.bytes()))
                .collect(Collectors.joining());
    }
}
