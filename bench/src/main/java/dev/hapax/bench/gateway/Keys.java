package dev.hapax.bench.gateway;

import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * The keys of a load.
 *
 * @param prefix what sets them apart from the keys of other loads
 * @param numbers what they end with
 * @param replayed whether they were used before
 */
record Keys(String prefix, LongSupplier numbers, boolean replayed) {
    private static final HexFormat HEX = HexFormat.of();

    /** Never the same one twice. */
    static Keys fresh() {
        AtomicLong last = new AtomicLong();
        return new Keys(prefixOfItsOwn(), last::incrementAndGet, false);
    }

    /** Any of the first {@code many} of these, which have been used by now. */
    Keys again(int many) {
        return new Keys(prefix, () -> 1 + ThreadLocalRandom.current().nextInt(many), true);
    }

    private static String prefixOfItsOwn() {
        return "key-" + HEX.toHexDigits(ThreadLocalRandom.current().nextLong());
    }

    String next() {
        return prefix + HEX.toHexDigits(numbers.getAsLong());
    }
}
