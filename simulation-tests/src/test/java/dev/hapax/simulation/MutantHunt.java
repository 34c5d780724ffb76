package dev.hapax.simulation;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Lets the simulation loose on one mutant. */
final class MutantHunt {
    private MutantHunt() {}

    /**
     * @param violation which promise the simulation saw broken; {@code null} if it found nothing in time
     * @param operations how many operations it took
     */
    record Catch(Mutant mutant, @Nullable String violation, long operations, double seconds) {}

    static Catch on(Mutant mutant, Path sources, long seed, Duration atMost)
            throws IOException, ReflectiveOperationException {
        Class<?> type = MutantWorld.of(mutant, sources).loadClass("dev.hapax.testkit.simulation.Simulation");
        Object simulation = type.getConstructor(long.class).newInstance(seed);
        long began = System.nanoTime();
        Consumer<Object> silent = progress -> {};
        type.getMethod("explore", Duration.class, int.class, Consumer.class).invoke(simulation, atMost, 1, silent);
        double seconds = (System.nanoTime() - began) / 1e9;
        long operations = (long) read(read(simulation, "progress"), "operations");
        List<?> findings = (List<?>) read(simulation, "findings");
        String violation = findings.isEmpty() ? null : String.valueOf(read(read(findings.get(0), "violation"), "kind"));
        return new Catch(mutant, violation, operations, seconds);
    }

    private static Object read(Object of, String component) throws ReflectiveOperationException {
        Method method = of.getClass().getMethod(component);
        return method.invoke(of);
    }
}
