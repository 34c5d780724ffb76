package dev.hapax.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class LatencyResultTest {
    private static final LatencyTurn SUSTAINED = new LatencyTurn(2, 8, 2_000, 2_000);
    private static final LatencyTurn SLOWER = new LatencyTurn(3, 4, 2_000, 2_000);
    private static final LatencyTurn BEHIND = new LatencyTurn(700, 900, 1_234, 2_000);

    private static final Figure FIGURE = Figure.of("fixed-rate-2000-p50", "", "", 1, (figure, bench) -> {
        throw new UnsupportedOperationException();
    });

    @Test
    void ratioAboveOneMeansOursIsShorter() {
        LatencyResult result = result(SUSTAINED, SLOWER);

        assertThat(result.p50(FIGURE).ratio().median()).isEqualTo(1.5);
        assertThat(result.p50(FIGURE).meetsBar()).isTrue();
        assertThat(result.p99(FIGURE).ratio().median()).isEqualTo(0.5);
        assertThat(result.p99(FIGURE).meetsBar()).isFalse();
        assertThat(result.p99(FIGURE).ours()).isEqualTo("8.00 ms");
    }

    @Test
    void sideThatFallsBehindHasItsRateInsteadOfLatencies() {
        Measured measured = result(SUSTAINED, BEHIND).p50(FIGURE);

        assertThat(measured.hasRatio()).isFalse();
        assertThat(measured.theirs()).isEqualTo("only 1,234/s");
        assertThat(measured.ours()).isEqualTo("2.00 ms");
        assertThat(measured.meetsBar()).isTrue();
    }

    @Test
    void barIsNotMetIfOursFallsBehind() {
        assertThat(result(BEHIND, SUSTAINED).p50(FIGURE).meetsBar()).isFalse();
        assertThat(result(BEHIND, BEHIND).p50(FIGURE).meetsBar()).isFalse();
    }

    @Test
    void oneTurnBehindDoesNotDecide() {
        Measured measured = new LatencyResult(
                        new LatencyResult.Side(8, List.of(SUSTAINED, BEHIND, SUSTAINED)),
                        new LatencyResult.Side(64, List.of(BEHIND, SLOWER, SLOWER)))
                .p50(FIGURE);

        assertThat(measured.ratios()).containsExactly(1.5);
        assertThat(measured.ours()).isEqualTo("2.00 ms");
        assertThat(measured.theirs()).isEqualTo("3.00 ms");
    }

    @Test
    void reportSaysWhyThereIsNoRatio() {
        Report report = new Report(
                List.of("a machine"), List.of(result(SUSTAINED, BEHIND).p50(FIGURE)), List.of());

        assertThat(report.table(false))
                .containsPattern(
                        "fixed-rate-2000-p50 +- +1\\.00 +met +2\\.00 ms +only 1,234/s +JDBC, pool of 64 \\(ours 8\\)")
                .contains("did not sustain the rate");
    }

    private static LatencyResult result(LatencyTurn ours, LatencyTurn theirs) {
        return new LatencyResult(
                new LatencyResult.Side(8, List.of(ours, ours, ours)),
                new LatencyResult.Side(64, List.of(theirs, theirs, theirs)));
    }
}
