package dev.hapax.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class OptionsTest {
    @Test
    void onlyTakesTheFigureOfThatName() {
        assertThat(figures("handler-20ms-512")).containsExactly("handler-20ms-512");
    }

    @Test
    void onlyTakesAllFiguresOfAGroup() {
        assertThat(figures("fixed-rate-500")).containsExactly("fixed-rate-500-p50", "fixed-rate-500-p99");
        assertThat(figures("fixed-rate,fresh-1-caller"))
                .containsExactly(
                        "fresh-1-caller",
                        "fixed-rate-500-p50",
                        "fixed-rate-500-p99",
                        "fixed-rate-2000-p50",
                        "fixed-rate-2000-p99");
    }

    @Test
    void quickRunMeasuresOneFixedRateAndNoPeers() {
        assertThat(names("--quick"))
                .contains("fresh-1-caller", "fixed-rate-2000-p50", "fixed-rate-2000-p99")
                .doesNotContain("fixed-rate-500-p50", "fixed-rate-500-p99", PeerFigures.FASTEST);
        assertThat(names("--quick", "--only", "fixed-rate-500"))
                .containsExactly("fixed-rate-500-p50", "fixed-rate-500-p99");
    }

    @Test
    void outboxAndKafkaAreMeasuredOnlyWhenAskedFor() {
        assertThat(names()).contains("fresh-1-caller").doesNotContain("outbox-backlog", "kafka-consumer");
        assertThat(names("outbox")).containsExactly("outbox-backlog", "outbox-live");
        assertThat(names("kafka", "--quick")).containsExactly("kafka-consumer");
    }

    @Test
    void unknownFigureIsRefused() {
        assertThatThrownBy(() -> figures("fixed-rat")).hasMessageContaining("no figure is called fixed-rat");
    }

    private static List<String> figures(String only) {
        return names("--only", only);
    }

    private static List<String> names(String... args) {
        return Options.parse(args).figures().stream().map(Figure::name).toList();
    }
}
