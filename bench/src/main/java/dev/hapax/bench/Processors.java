package dev.hapax.bench;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Where the time of all processors went, in seconds: what limits a load can be read from it.
 *
 * @param callers spent by this process: callers, Hapax and driver, unless Hapax is in a gateway
 * @param others spent by everybody else: the database, gateways, and the kernel on behalf of nobody
 * @param idle spent by nobody
 * @param stolen given to other virtual machines, while somebody here had something to do
 */
record Processors(double callers, double others, double idle, double stolen) {
    static final Processors NONE = new Processors(0, 0, 0, 0);

    private static final Path COUNTERS = Path.of("/proc/stat");
    private static final double PER_SECOND = 100;
    private static final int IDLE = 3;
    private static final int WAITING_FOR_DISK = 4;
    private static final int STOLEN = 7;
    private static final int COUNTED = 8;

    /** Since they were started; nothing where the system does not tell. */
    static Processors now() throws IOException {
        if (!Files.isReadable(COUNTERS)) {
            return NONE;
        }
        String all = Files.readAllLines(COUNTERS).get(0).substring("cpu".length());
        double[] seconds = Arrays.stream(all.trim().split(" "))
                .limit(COUNTED)
                .mapToDouble(ticks -> Long.parseLong(ticks) / PER_SECOND)
                .toArray();
        double idle = seconds[IDLE] + seconds[WAITING_FOR_DISK];
        double own =
                ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime() / 1e9;
        double stolen = seconds[STOLEN];
        return new Processors(own, Arrays.stream(seconds).sum() - idle - stolen - own, idle, stolen);
    }

    Processors plus(Processors more) {
        return new Processors(callers + more.callers, others + more.others, idle + more.idle, stolen + more.stolen);
    }

    Processors since(Processors before) {
        return new Processors(
                callers - before.callers, others - before.others, idle - before.idle, stolen - before.stolen);
    }

    Processors per(double operations) {
        return new Processors(callers / operations, others / operations, idle / operations, stolen / operations);
    }

    /** How much of the whole was stolen, from 0 to 1. */
    double shareStolen() {
        double whole = callers + others + idle + stolen;
        return whole > 0 ? stolen / whole : 0;
    }
}
