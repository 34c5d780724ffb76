package dev.hapax.bench.gateway;

import java.util.stream.LongStream;

/**
 * What came of a load.
 *
 * @param perSecond answers per second
 * @param medianNanos how long the middle one of the answers took
 */
public record LoadResult(double perSecond, double medianNanos) {
    static LoadResult of(long tookNanos, LongStream answers) {
        long[] ascending = answers.sorted().toArray();
        return new LoadResult(ascending.length * 1e9 / tookNanos, ascending[ascending.length / 2]);
    }
}
