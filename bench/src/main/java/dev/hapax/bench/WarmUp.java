package dev.hapax.bench;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;

/**
 * Lets the sides of a figure take turns until Java has compiled what they use.
 *
 * <p>The compiler takes its time from the same processors as the load: measured too early, a figure tells how fast Java
 * compiles, and the side with more code loses.
 */
final class WarmUp {
    private static final double AT_REST = 0.05;

    private final Effort effort;
    private final CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();

    WarmUp(Effort effort) {
        this.effort = effort;
    }

    /**
     * Variants of a side run the same code, so after one turn of all only the first of them goes on.
     *
     * @return the share of one processor that the compiler still took in the last turn
     */
    double run(Sides sides) throws Exception {
        long until = System.nanoTime() + effort.warmUp().toNanos();
        double compiling = turn(sides.all());
        while (compiling > AT_REST && until - System.nanoTime() > 0) {
            compiling = turn(List.of(sides.ours(), sides.theirs().get(0)));
        }
        return compiling;
    }

    private double turn(List<Workload> workloads) throws Exception {
        long began = System.nanoTime();
        long compiled = compiler.getTotalCompilationTime();
        for (Workload workload : workloads) {
            workload.round(effort);
        }
        Duration took = Duration.ofNanos(System.nanoTime() - began);
        return (double) (compiler.getTotalCompilationTime() - compiled) / took.toMillis();
    }
}
