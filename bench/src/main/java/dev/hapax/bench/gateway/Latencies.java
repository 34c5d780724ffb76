package dev.hapax.bench.gateway;

import java.util.Arrays;

/** How long answers take at the same, moderate load, side by side. */
public record Latencies(int perSecond, Latency plain, Latency passThrough, Latency fresh, Latency replay) {

    /** What idempotency adds to a request that runs. */
    public Latency addedToFresh() {
        return fresh.beyond(passThrough);
    }

    /** What a replay takes beyond a request that only passes: mostly less than nothing. */
    public Latency addedToReplay() {
        return replay.beyond(passThrough);
    }

    /** Half of the answers, and all but one of a hundred, came within so many microseconds. */
    public record Latency(double p50, double p99) {
        static Latency of(long[] ascendingNanos) {
            return new Latency(at(ascendingNanos, 0.50), at(ascendingNanos, 0.99));
        }

        private static double at(long[] ascendingNanos, double share) {
            return ascendingNanos[(int) (share * (ascendingNanos.length - 1))] / 1_000.0;
        }

        Latency beyond(Latency other) {
            return new Latency(p50 - other.p50, p99 - other.p99);
        }

        @Override
        public String toString() {
            return "%.0f and %.0f".formatted(p50, p99);
        }
    }

    /** All numbers of both, in ascending order. */
    static long[] merged(long[] some, long[] others) {
        long[] all = Arrays.copyOf(some, some.length + others.length);
        System.arraycopy(others, 0, all, some.length, others.length);
        Arrays.sort(all);
        return all;
    }
}
