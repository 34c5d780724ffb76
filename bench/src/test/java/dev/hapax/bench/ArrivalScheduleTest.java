package dev.hapax.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ArrivalScheduleTest {
    private static final ArrivalSchedule SCHEDULE =
            new ArrivalSchedule(500, Duration.ofMillis(250), Duration.ofSeconds(1));

    @Test
    void arrivalsFillTheTurnAtTheirRate() {
        assertThat(SCHEDULE.arrivals()).isEqualTo(625);
        assertThat(SCHEDULE.due(0)).isZero();
        assertThat(SCHEDULE.due(1)).isEqualTo(2_000_000);
        assertThat(SCHEDULE.due(624)).isEqualTo(1_248_000_000).isLessThan(SCHEDULE.end());
    }

    @Test
    void intervalsThatAreNoWholeNanosecondsDoNotDrift() {
        ArrivalSchedule thirds = new ArrivalSchedule(3, Duration.ZERO, Duration.ofHours(1));

        assertThat(thirds.due(3 * 3_599)).isEqualTo(Duration.ofSeconds(3_599).toNanos());
    }

    @Test
    void runInDoesNotCount() {
        long from = SCHEDULE.runIn().toNanos();

        assertThat(SCHEDULE.counts(from - 1)).isFalse();
        assertThat(SCHEDULE.counts(from)).isTrue();
        assertThat(SCHEDULE.counts(SCHEDULE.end() - 1)).isTrue();
        assertThat(SCHEDULE.counts(SCHEDULE.end())).isFalse();
    }

    @Test
    void rateAndDurationMustBePositive() {
        assertThatThrownBy(() -> ArrivalSchedule.of(0, Duration.ofSeconds(1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> ArrivalSchedule.of(500, Duration.ZERO)).isInstanceOf(IllegalArgumentException.class);
    }
}
