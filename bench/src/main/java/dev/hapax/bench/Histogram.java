package dev.hapax.bench;

import java.util.Arrays;

/** Counts durations in steps of less than two percent. Not safe for use by many threads. */
final class Histogram {
    private static final int BITS = 6;
    private static final int PER_DOUBLING = 1 << BITS;

    private final long[] counts = new long[PER_DOUBLING * Long.SIZE];

    void add(long nanos) {
        counts[bucket(Math.max(1, nanos))]++;
    }

    /** The doublings of the number, and where it lies between two of them. */
    private static int bucket(long nanos) {
        int doublings = Long.SIZE - 1 - Long.numberOfLeadingZeros(nanos);
        long within = doublings < BITS ? 0 : (nanos >>> (doublings - BITS)) & (PER_DOUBLING - 1);
        return doublings * PER_DOUBLING + (int) within;
    }

    long count() {
        return Arrays.stream(counts).sum();
    }

    /** The duration that this share of all do not exceed. */
    double millisAt(double share) {
        long left = (long) Math.ceil(share * count());
        for (int i = 0; i < counts.length; i++) {
            left -= counts[i];
            if (left <= 0) {
                int doublings = i / PER_DOUBLING;
                return Math.pow(2, doublings) * (1 + (i % PER_DOUBLING + 1.0) / PER_DOUBLING) / 1e6;
            }
        }
        return 0;
    }

    void addAll(Histogram other) {
        for (int i = 0; i < counts.length; i++) {
            counts[i] += other.counts[i];
        }
    }

    void clear() {
        Arrays.fill(counts, 0);
    }
}
