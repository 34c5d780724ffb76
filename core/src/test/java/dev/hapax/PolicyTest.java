package dev.hapax;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.hapax.store.WhenAbandoned;
import java.io.IOException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;

class PolicyTest {
    static final List<Duration> NO_TIME =
            List.of(Duration.ZERO, Duration.ofNanos(-1), Duration.ofHours(-1), Duration.ofSeconds(Long.MIN_VALUE));

    /** What nobody can count in nanoseconds or add to a date. */
    private static final Duration FOREVER = ChronoUnit.FOREVER.getDuration();

    @Test
    void defaultsAreThoseOfTheDesign() {
        Policy policy = Policy.defaults();

        assertThat(policy.retention()).isEqualTo(Duration.ofHours(24));
        assertThat(policy.lease()).isEqualTo(Duration.ofSeconds(30));
        assertThat(policy.maxDuration()).isEqualTo(Duration.ofHours(1));
        assertThat(policy.whenInFlight()).isEqualTo(WhenInFlight.REJECT);
        assertThat(policy.whenAbandoned()).isEqualTo(WhenAbandoned.RERUN);
        assertThat(policy.maxAttempts()).isEqualTo(10);
        assertThat(policy.onStoreFailure()).isEqualTo(OnStoreFailure.CLOSED);
        assertThat(policy.maxBody()).isEqualTo(1024 * 1024);
    }

    @Test
    void presetsDifferInRetention() {
        assertThat(Stream.of(Policy.payment(), Policy.signup(), Policy.webhook(), Policy.job())
                        .map(Policy::retention))
                .containsExactly(Duration.ofDays(1), Duration.ofHours(1), Duration.ofDays(7), Duration.ofDays(30));
    }

    @Test
    void onlyPaymentsAreParked() {
        assertThat(Stream.of(Policy.payment(), Policy.signup(), Policy.webhook(), Policy.job())
                        .map(Policy::whenAbandoned))
                .containsExactly(WhenAbandoned.PARK, WhenAbandoned.RERUN, WhenAbandoned.RERUN, WhenAbandoned.RERUN);
    }

    @Test
    void onlyPaymentsTakeAnyExceptionForUnknown() {
        IOException thrown = new IOException("timed out");

        assertThat(Stream.of(Policy.payment(), Policy.signup(), Policy.webhook(), Policy.job())
                        .map(policy -> policy.isUnknown(thrown)))
                .containsExactly(true, false, false, false);
    }

    /** A job that takes longer than its renewals would run twice. */
    @Test
    void jobsMayRunForADay() {
        assertThat(Policy.job().maxDuration()).isEqualTo(Duration.ofDays(1));
    }

    @Test
    void aSetterKeepsEverythingElse() {
        Policy policy = Policy.defaults()
                .retention(Duration.ofDays(2))
                .lease(Duration.ofSeconds(3))
                .maxDuration(Duration.ofSeconds(4))
                .whenInFlight(WhenInFlight.ACCEPT)
                .whenAbandoned(WhenAbandoned.PARK)
                .maxAttempts(5)
                .onStoreFailure(OnStoreFailure.OPEN)
                .maxBody(6)
                .terminalOn(IOException.class::isInstance);

        assertThat(policy.retention()).isEqualTo(Duration.ofDays(2));
        assertThat(policy.lease()).isEqualTo(Duration.ofSeconds(3));
        assertThat(policy.maxDuration()).isEqualTo(Duration.ofSeconds(4));
        assertThat(policy.whenInFlight()).isEqualTo(WhenInFlight.ACCEPT);
        assertThat(policy.whenAbandoned()).isEqualTo(WhenAbandoned.PARK);
        assertThat(policy.maxAttempts()).isEqualTo(5);
        assertThat(policy.onStoreFailure()).isEqualTo(OnStoreFailure.OPEN);
        assertThat(policy.maxBody()).isEqualTo(6);
        assertThat(policy.maxAttempts(7).isTerminal(new IOException())).isTrue();
    }

    @Test
    void aSetterLeavesThePolicyItIsCalledOn() {
        Policy policy = Policy.defaults();
        Policy changed = policy.maxAttempts(1);

        assertThat(policy.maxAttempts()).isEqualTo(10);
        assertThat(changed.maxAttempts()).isEqualTo(1);
    }

    @Test
    void aLongLeaseRaisesTheCapOnDuration() {
        assertThat(Policy.defaults().lease(Duration.ofHours(2)).maxDuration()).isEqualTo(Duration.ofHours(2));
    }

    @Test
    void theCapOnDurationIsNoShorterThanALease() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Policy.defaults().maxDuration(Duration.ofSeconds(29)))
                .withMessageContaining("maxDuration");
    }

    @ParameterizedTest
    @FieldSource("NO_TIME")
    void aLeaseTakesTime(Duration noTime) {
        assertThatIllegalArgumentException().isThrownBy(() -> Policy.defaults().lease(noTime));
    }

    @ParameterizedTest
    @FieldSource("NO_TIME")
    void retentionTakesTime(Duration noTime) {
        assertThatIllegalArgumentException().isThrownBy(() -> Policy.defaults().retention(noTime));
    }

    @ParameterizedTest
    @FieldSource("NO_TIME")
    void theCapOnDurationTakesTime(Duration noTime) {
        assertThatIllegalArgumentException().isThrownBy(() -> Policy.defaults().maxDuration(noTime));
    }

    @ParameterizedTest
    @FieldSource("NO_TIME")
    void waitingTakesTime(Duration noTime) {
        assertThatIllegalArgumentException().isThrownBy(() -> WhenInFlight.waitAtMost(noTime));
    }

    @Test
    void lessThanAMillisecondIsNoLease() {
        assertThatIllegalArgumentException().isThrownBy(() -> Policy.defaults().lease(Duration.ofNanos(999_999)));
    }

    @Test
    void lessThanAMillisecondIsNoRetention() {
        assertThatIllegalArgumentException().isThrownBy(() -> Policy.defaults().retention(Duration.ofNanos(1)));
    }

    @Test
    void aLeaseThatCannotBeCountedIsRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> Policy.defaults().lease(FOREVER));
    }

    @Test
    void aRetentionThatCannotBeCountedIsRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> Policy.defaults().retention(FOREVER));
    }

    @Test
    void aWaitThatCannotBeCountedIsRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> WhenInFlight.waitAtMost(FOREVER));
    }

    /** The keeper counts leases in nanoseconds: one that overflows would end the renewal of all. */
    @Test
    void aLeaseOfThreeHundredYearsIsRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> Policy.defaults().lease(Duration.ofDays(300 * 365)));
    }

    @Test
    void onlyWaitingLasts() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new WhenInFlight(WhenInFlight.Mode.REJECT, Duration.ofSeconds(1)));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
    void thereIsAtLeastOneAttempt(int attempts) {
        assertThatIllegalArgumentException().isThrownBy(() -> Policy.defaults().maxAttempts(attempts));
    }

    @Test
    void aBodyHasNoNegativeSize() {
        assertThatIllegalArgumentException().isThrownBy(() -> Policy.defaults().maxBody(-1));
    }

    @Test
    void aTerminalFailureIsAlwaysTerminal() {
        assertThat(Policy.defaults().isTerminal(new TerminalFailure(402, "declined")))
                .isTrue();
    }

    @Test
    void everythingElseIsRetryableUnlessSaidOtherwise() {
        Policy policy = Policy.defaults().terminalOn(IOException.class::isInstance);

        assertThat(policy.isTerminal(new IOException())).isTrue();
        assertThat(policy.isTerminal(new IllegalStateException())).isFalse();
    }
}
