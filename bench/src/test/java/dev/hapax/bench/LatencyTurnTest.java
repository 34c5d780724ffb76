package dev.hapax.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class LatencyTurnTest {
    private static final long MILLI = 1_000_000;
    private static final ArrivalSchedule SCHEDULE =
            new ArrivalSchedule(1_000, Duration.ofMillis(100), Duration.ofSeconds(1));

    @Test
    void percentileIsTheSmallestThatTheShareDoesNotExceed() {
        long[] hundred =
                LongStream.rangeClosed(1, 100).map(milli -> milli * MILLI).toArray();

        assertThat(LatencyTurn.millisAt(hundred, 0.50)).isEqualTo(50);
        assertThat(LatencyTurn.millisAt(hundred, 0.99)).isEqualTo(99);
        assertThat(LatencyTurn.millisAt(new long[] {7 * MILLI}, 0.99)).isEqualTo(7);
    }

    @Test
    void latencyCountsFromWhenTheOperationWasDue() {
        LatencyTurn turn = turn(arrival -> SCHEDULE.due(arrival) + 3 * MILLI);

        assertThat(turn.p50Millis()).isEqualTo(3);
        assertThat(turn.p99Millis()).isEqualTo(3);
        assertThat(turn.perSecond()).isEqualTo(1_000);
        assertThat(turn.isSustained()).isTrue();
    }

    @Test
    void slowRunInDoesNotCount() {
        LatencyTurn turn = turn(arrival -> SCHEDULE.due(arrival) + (arrival < 100 ? 90 : 2) * MILLI);

        assertThat(turn.p99Millis()).isEqualTo(2);
    }

    @Test
    void stallDelaysAllThatAreDueMeanwhile() {
        long resumed = 500 * MILLI;
        LatencyTurn turn = turn(arrival -> Math.max(SCHEDULE.due(arrival), arrival < 400 ? 0 : resumed) + MILLI);

        assertThat(turn.p50Millis()).isEqualTo(1);
        assertThat(turn.p99Millis()).isGreaterThan(80);
        assertThat(turn.isSustained()).isTrue();
    }

    @Test
    void growingBacklogIsNotSustained() {
        LatencyTurn turn = turn(arrival -> SCHEDULE.due(arrival) * 10 / 9);

        assertThat(turn.perSecond()).isCloseTo(900, within(2.0));
        assertThat(turn.isSustained()).isFalse();
    }

    @Test
    void steadyLatencyOfAnyLengthIsSustained() {
        assertThat(turn(arrival -> SCHEDULE.due(arrival) + 100 * MILLI).isSustained())
                .isTrue();
    }

    @Test
    void droppedOperationsAreNotCompleted() {
        LatencyTurn turn = turn(arrival -> arrival < 600 ? SCHEDULE.due(arrival) + 1 : LatencyTurn.NOT_COMPLETED);

        assertThat(turn.perSecond()).isEqualTo(500);
        assertThat(turn.isSustained()).isFalse();
        assertThat(turn.describe()).isEqualTo("only 500/s");
    }

    @Test
    void sideThatSustainsTheRateIsBetterThanOneThatDoesNot() {
        LatencyTurn sustained = new LatencyTurn(5, 50, 1_990, 2_000);
        LatencyTurn shorter = new LatencyTurn(5, 40, 1_980, 2_000);
        LatencyTurn behind = new LatencyTurn(1, 2, 1_500, 2_000);
        LatencyTurn furtherBehind = new LatencyTurn(1, 1, 1_400, 2_000);

        assertThat(sustained.isBetterThan(behind)).isTrue();
        assertThat(behind.isBetterThan(sustained)).isFalse();
        assertThat(shorter.isBetterThan(sustained)).isTrue();
        assertThat(behind.isBetterThan(furtherBehind)).isTrue();
        assertThat(furtherBehind.isBetterThan(behind)).isFalse();
    }

    private static LatencyTurn turn(IntToLongFunction ended) {
        return LatencyTurn.of(
                SCHEDULE,
                IntStream.range(0, SCHEDULE.arrivals()).mapToLong(ended).toArray());
    }
}
