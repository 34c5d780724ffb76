package dev.hapax.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class WarmUpTest {
    private static final Duration LONG = Duration.ofMinutes(1);

    private final AtomicInteger rounds = new AtomicInteger();

    @Test
    void warmUpEndsThreeRoundsAfterTheLastGain() throws Exception {
        double[] theirs = {100, 110, 112, 130, 131, 90, 136};

        assertThat(warmUp(LONG, () -> Duration.ZERO).run(() ->
                        new double[] {50, theirs[Math.min(rounds.getAndIncrement(), 6)]}))
                .isTrue();

        assertThat(rounds).hasValue(7);
    }

    @Test
    void warmUpGoesOnWhileCompilersWork() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        WarmUp.Compilers busyForFiveRounds = () -> LONG.multipliedBy(Math.min(asked.incrementAndGet(), 10));

        assertThat(warmUp(LONG, busyForFiveRounds).run(this::sameRate)).isTrue();

        assertThat(rounds).hasValue(8);
    }

    @Test
    void warmUpThatDoesNotSettleEndsInTime() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        WarmUp.Compilers alwaysBusy = () -> LONG.multipliedBy(asked.incrementAndGet());

        assertThat(warmUp(Duration.ofMillis(20), alwaysBusy).run(this::sameRate))
                .isFalse();

        assertThat(rounds).hasPositiveValue();
    }

    private double[] sameRate() {
        rounds.incrementAndGet();
        return new double[] {100};
    }

    private static WarmUp warmUp(Duration atMost, WarmUp.Compilers compilers) {
        return new WarmUp(atMost, Duration.ZERO, compilers);
    }
}
