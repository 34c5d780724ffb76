package dev.hapax;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.store.OperationId;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class OutcomeTest {
    private static final OperationId ID = new OperationId(new UUID(1, 2));

    @ParameterizedTest
    @MethodSource("outcomes")
    void foldReachesTheArmOfTheOutcome(Outcome<String> outcome, String arm) {
        String reached = outcome.fold(
                executed -> "executed",
                replayed -> "replayed",
                inProgress -> "inProgress",
                mismatched -> "mismatched",
                inDoubt -> "inDoubt");

        assertThat(reached).isEqualTo(arm);
    }

    static Stream<Arguments> outcomes() {
        return Stream.of(
                Arguments.of(new Outcome.Executed<>(ID, 1, true, Ending.value("v")), "executed"),
                Arguments.of(new Outcome.Replayed<>(ID, Ending.value("v"), Instant.EPOCH, Instant.MAX), "replayed"),
                Arguments.of(new Outcome.InProgress<>(ID, Duration.ofSeconds(1)), "inProgress"),
                Arguments.of(new Outcome.Mismatched<>(ID), "mismatched"),
                Arguments.of(new Outcome.InDoubt<>(ID), "inDoubt"));
    }

    @Test
    void theValueIsWhatTheHandlerReturned() {
        assertThat(new Outcome.Executed<>(ID, 1, true, Ending.value("v")).value())
                .isEqualTo("v");
    }

    @Test
    void theValueOfATerminalFailureThrowsIt() {
        TerminalFailure declined = new TerminalFailure(402, "declined");

        assertThatThrownBy(() -> new Outcome.Executed<>(ID, 1, true, Ending.failure(declined)).value())
                .isSameAs(declined);
        assertThatThrownBy(
                        () -> new Outcome.Replayed<>(ID, Ending.failure(declined), Instant.EPOCH, Instant.MAX).value())
                .isSameAs(declined);
    }

    @Test
    void aTerminalFailureCanBeReadWithoutThrowing() {
        TerminalFailure declined = new TerminalFailure(402, "declined");

        assertThat(Ending.failure(declined).failure()).containsSame(declined);
    }

    @Test
    void aValueIsNoFailure() {
        assertThat(Ending.value("v").failure()).isEmpty();
    }

    @Test
    void orElseThrowGivesTheValueNowAndLater() {
        assertThat(new Outcome.Executed<>(ID, 1, true, Ending.value("v")).orElseThrow())
                .isEqualTo("v");
        assertThat(new Outcome.Replayed<>(ID, Ending.value("v"), Instant.EPOCH, Instant.MAX).orElseThrow())
                .isEqualTo("v");
    }

    @Test
    void orElseThrowThrowsTheTerminalFailure() {
        TerminalFailure declined = new TerminalFailure(402, "declined");
        Outcome<String> executed = new Outcome.Executed<>(ID, 1, true, Ending.failure(declined));
        Outcome<String> replayed = new Outcome.Replayed<>(ID, Ending.failure(declined), Instant.EPOCH, Instant.MAX);

        assertThatThrownBy(executed::orElseThrow).isSameAs(declined);
        assertThatThrownBy(replayed::orElseThrow).isSameAs(declined);
    }

    @Test
    void orElseThrowSaysWhenToComeBack() {
        Outcome<String> outcome = new Outcome.InProgress<>(ID, Duration.ofSeconds(3));

        assertThatExceptionOfType(OperationInProgressException.class)
                .isThrownBy(outcome::orElseThrow)
                .satisfies(thrown -> {
                    assertThat(thrown.operationId()).isEqualTo(ID);
                    assertThat(thrown.retryAfter()).isEqualTo(Duration.ofSeconds(3));
                });
    }

    @Test
    void orElseThrowSaysThatTheKeyWasReused() {
        Outcome<String> outcome = new Outcome.Mismatched<>(ID);

        assertThatExceptionOfType(KeyReusedException.class)
                .isThrownBy(outcome::orElseThrow)
                .satisfies(thrown -> assertThat(thrown.operationId()).isEqualTo(ID));
    }

    @Test
    void orElseThrowSaysThatTheOperationIsInDoubt() {
        Outcome<String> outcome = new Outcome.InDoubt<>(ID);

        assertThatExceptionOfType(OperationInDoubtException.class)
                .isThrownBy(outcome::orElseThrow)
                .satisfies(thrown -> assertThat(thrown.operationId()).isEqualTo(ID));
    }

    @Test
    void onlyAReplayIsReplayed() {
        assertThat(outcomes().map(it -> ((Outcome<?>) it.get()[0]).isReplayed()))
                .containsExactly(false, true, false, false, false);
    }
}
