package dev.hapax.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class OpenLoopTest {
    private static final ArrivalSchedule SCHEDULE = new ArrivalSchedule(500, Duration.ZERO, Duration.ofMillis(100));

    @Test
    void everyArrivalRunsOnce() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        ArrivalSchedule schedule = new ArrivalSchedule(500, Duration.ZERO, Duration.ofSeconds(2));
        try (OpenLoop loop = new OpenLoop(8, runs::incrementAndGet)) {
            assertThat(loop.run(schedule).offered()).isEqualTo(500);
        }
        assertThat(runs).hasValue(schedule.arrivals());
    }

    /** While the only thread is stuck, 80 ms of arrivals wait for it: a closed loop would see one slow operation. */
    @Test
    void waitsOfArrivalsBehindAStallCount() throws Exception {
        AtomicBoolean stalled = new AtomicBoolean();
        try (OpenLoop loop = new OpenLoop(1, () -> {
            if (!stalled.getAndSet(true)) {
                Thread.sleep(80);
            }
        })) {
            assertThat(loop.run(SCHEDULE).p50Millis()).isGreaterThan(20);
        }
    }

    @Test
    void rateBeyondTheCapacityIsNotSustained() throws Exception {
        try (OpenLoop loop = new OpenLoop(1, () -> Thread.sleep(4))) {
            LatencyTurn turn = loop.run(SCHEDULE);

            assertThat(turn.perSecond()).isLessThanOrEqualTo(250);
            assertThat(turn.isSustained()).isFalse();
        }
    }

    @Test
    void failureOfAnOperationEndsTheTurn() {
        try (OpenLoop loop = new OpenLoop(2, () -> {
            throw new IOException("refused");
        })) {
            assertThatThrownBy(() -> loop.run(SCHEDULE)).hasRootCauseMessage("refused");
        }
    }
}
