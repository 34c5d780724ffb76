package dev.hapax.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Arrays;

/**
 * The one rule by which every figure warms up: rounds go on until no side has become faster by more than 5 % for three
 * rounds in a row while the compilers rested, or until time is up.
 *
 * <p>The compiler takes its time from the same processors as the load. Measured too early, a figure tells how fast Java
 * compiles, and the side with more code loses.
 *
 * @param atMost how long it may take
 * @param pause how long the compilers have the processors for themselves before each round: beside a hundred callers
 *     they would get a hundredth of them
 * @param compilers what compiles the code of all sides
 */
record WarmUp(Duration atMost, Duration pause, Compilers compilers) {
    private static final double FASTER = 1.05;
    private static final double AT_REST = 0.03;
    private static final int SETTLED_ROUNDS = 3;

    /** Tells how much processor time compilers have used so far. */
    interface Compilers {
        Duration time() throws IOException;
    }

    /** One round of all sides. */
    interface Round {
        /** @return how fast each side was, in any unit of which more is faster, always in the same order */
        double[] rates() throws Exception;
    }

    /** For code that runs in this process. */
    static WarmUp of(Effort effort) {
        return of(
                effort,
                () -> Duration.ofMillis(ManagementFactory.getCompilationMXBean().getTotalCompilationTime()));
    }

    static WarmUp of(Effort effort, Compilers compilers) {
        return new WarmUp(effort.warmUp(), effort.toWarmUp().round(), compilers);
    }

    /** @return whether all sides settled before time was up */
    boolean run(Round round) throws Exception {
        long until = System.nanoTime() + atMost.toNanos();
        double[] best = {};
        int settled = 0;
        while (settled < SETTLED_ROUNDS && until - System.nanoTime() > 0) {
            long began = System.nanoTime();
            Duration compiled = compilers.time();
            Thread.sleep(pause.toMillis());
            double[] rates = round.rates();
            boolean faster = improves(best, rates);
            best = best(best, rates);
            Duration compiling = compilers.time().minus(compiled);
            boolean atRest = compiling.toNanos() <= AT_REST * (System.nanoTime() - began);
            settled = faster || !atRest ? 0 : settled + 1;
        }
        return settled == SETTLED_ROUNDS;
    }

    private static boolean improves(double[] best, double[] rates) {
        for (int i = 0; i < rates.length; i++) {
            if (best.length == 0 || rates[i] > FASTER * best[i]) {
                return true;
            }
        }
        return false;
    }

    private static double[] best(double[] best, double[] rates) {
        double[] better = Arrays.copyOf(rates, rates.length);
        for (int i = 0; i < best.length; i++) {
            better[i] = Math.max(best[i], rates[i]);
        }
        return better;
    }
}
