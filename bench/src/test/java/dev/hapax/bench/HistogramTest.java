package dev.hapax.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class HistogramTest {
    private static final long MILLI = 1_000_000;

    @Test
    void percentilesAreExactToTwoPercent() {
        Histogram histogram = new Histogram();
        for (int millis = 1; millis <= 1_000; millis++) {
            histogram.add(millis * MILLI);
        }

        assertThat(histogram.count()).isEqualTo(1_000);
        assertThat(histogram.millisAt(0.50)).isCloseTo(500, within(10.0));
        assertThat(histogram.millisAt(0.99)).isCloseTo(990, within(20.0));
    }

    @Test
    void sumOfTwoHasBothCounts() {
        Histogram fast = new Histogram();
        Histogram slow = new Histogram();
        for (int i = 0; i < 98; i++) {
            fast.add(MILLI);
        }
        slow.add(100 * MILLI);
        slow.add(100 * MILLI);
        fast.addAll(slow);

        assertThat(fast.count()).isEqualTo(100);
        assertThat(fast.millisAt(0.98)).isCloseTo(1, within(0.02));
        assertThat(fast.millisAt(0.99)).isCloseTo(100, within(2.0));
    }
}
