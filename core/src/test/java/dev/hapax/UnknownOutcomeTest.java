package dev.hapax;

import static dev.hapax.World.call;
import static dev.hapax.World.executed;
import static dev.hapax.World.mustNotRun;
import static dev.hapax.World.replayed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.hapax.store.State;
import dev.hapax.store.WhenAbandoned;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UnknownOutcomeTest {
    private final OutcomeUnknownException noAnswer = new OutcomeUnknownException("no answer", null);

    private final World world = World.still();

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    void isParkedAtOnce() {
        Hapax hapax = world.node(Policy.defaults().whenAbandoned(WhenAbandoned.PARK));

        assertThat(call(hapax).run(this::unknown)).isInstanceOf(Outcome.InDoubt.class);
        assertThat(world.state()).isEqualTo(State.IN_DOUBT);
        assertThat(call(hapax).run(mustNotRun())).isInstanceOf(Outcome.InDoubt.class);
    }

    @Test
    void ofAnAsynchronousHandlerIsParkedAtOnce() {
        Hapax hapax = world.node(Policy.defaults().whenAbandoned(WhenAbandoned.PARK));

        assertThat(call(hapax)
                        .runAsync(lease -> CompletableFuture.failedFuture(noAnswer))
                        .toCompletableFuture()
                        .join())
                .isInstanceOf(Outcome.InDoubt.class);
        assertThat(world.state()).isEqualTo(State.IN_DOUBT);
    }

    @Test
    void failsForGoodWhereThePolicySaysSo() {
        Hapax hapax = world.node(Policy.defaults().whenAbandoned(WhenAbandoned.FAIL));

        assertThat(executed(call(hapax).run(this::unknown)).ending().failure()).isPresent();
        assertThat(replayed(call(hapax).run(mustNotRun())).ending().failure()).isPresent();
    }

    @Test
    void runsAgainWhereThePolicySaysSo() {
        Hapax hapax = world.node(Policy.defaults().whenAbandoned(WhenAbandoned.RERUN));

        assertThatThrownBy(() -> call(hapax).run(this::unknown)).isSameAs(noAnswer);
        assertThat(executed(call(hapax).run(lease -> "receipt")).attempt()).isEqualTo(2);
    }

    @Test
    void ofAPaymentThatLeftNothingBehindIsKnown() {
        Hapax hapax = world.node(Policy.payment());
        RetryableException rolledBack = new RetryableException("rolled back", null);

        assertThatThrownBy(() -> call(hapax).run(lease -> {
                    throw rolledBack;
                }))
                .isSameAs(rolledBack);
        assertThat(executed(call(hapax).run(lease -> "receipt")).attempt()).isEqualTo(2);
    }

    @Test
    void aCallWhoseExecutorRefusesGivesItsClaimBack() {
        Hapax hapax = world.node(Policy.defaults());

        assertThatThrownBy(() -> call(hapax)
                        .runAsync(lease -> CompletableFuture.completedFuture("receipt"), task -> {
                            throw new RejectedExecutionException("closed");
                        })
                        .toCompletableFuture()
                        .join())
                .hasCauseInstanceOf(RejectedExecutionException.class);
        assertThat(world.state()).isEqualTo(State.PENDING);
    }

    @Test
    void ofAnOvertakenOwnerIsALostClaim() {
        Policy parking = Policy.defaults().whenAbandoned(WhenAbandoned.PARK);
        Hapax hapax = world.node(parking);

        assertThatThrownBy(() -> call(hapax).run(lease -> {
                    world.clock.advance(parking.lease());
                    world.sweep();
                    throw noAnswer;
                }))
                .isInstanceOf(ClaimLostException.class)
                .satisfies(lost -> assertThat(lost.getSuppressed()).containsExactly(noAnswer));
        assertThat(world.heard.events()).containsExactly("claimed 1", "claimLost 1");
    }

    @Test
    void crashedPaymentIsParked() {
        world.claimElsewhere(Policy.payment());
        world.clock.advance(Policy.payment().lease());

        assertThat(call(world.node(Policy.payment())).run(mustNotRun())).isInstanceOf(Outcome.InDoubt.class);
    }

    @Test
    void unclassifiedExceptionParksAPayment() {
        Hapax hapax = world.node(Policy.payment());

        assertThat(runThrowing(hapax, new IllegalStateException("timed out"))).isInstanceOf(Outcome.InDoubt.class);
        assertThat(call(hapax).run(mustNotRun())).isInstanceOf(Outcome.InDoubt.class);
    }

    @Test
    void errorParksAPayment() {
        assertThat(runThrowing(world.node(Policy.payment()), new StackOverflowError()))
                .isInstanceOf(Outcome.InDoubt.class);
    }

    @Test
    void terminalFailureEndsAPayment() {
        Hapax hapax = world.node(Policy.payment());
        TerminalFailure declined = new TerminalFailure(402, "declined");

        assertThat(executed(runThrowing(hapax, declined)).ending().failure()).containsSame(declined);
        assertThat(world.state()).isEqualTo(State.FAILED);
    }

    @Test
    void classifiedExceptionEndsAPayment() {
        Hapax hapax = world.node(Policy.payment().terminalOn(IllegalStateException.class::isInstance));
        runThrowing(hapax, new IllegalStateException("declined"));

        assertThat(world.state()).isEqualTo(State.FAILED);
    }

    @Test
    void paymentThatNeverBeganMayRunAgain() {
        Hapax hapax = world.node(Policy.payment());
        NotBegunException notBegun = new NotBegunException("no connection");

        assertThatThrownBy(() -> runThrowing(hapax, notBegun)).isSameAs(notBegun);
        assertThat(executed(call(hapax).run(lease -> "receipt")).attempt()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"RERUN,PENDING", "FAIL,FAILED", "PARK,IN_DOUBT"})
    void whatThePolicyCallsUnknownFollowsWhenAbandoned(WhenAbandoned whenAbandoned, State state) {
        Hapax hapax = world.node(
                Policy.defaults().whenAbandoned(whenAbandoned).unknownOn(IllegalStateException.class::isInstance));
        var unused = catchThrowable(() -> runThrowing(hapax, new IllegalStateException("timed out")));

        assertThat(world.state()).isEqualTo(state);
    }

    @Test
    void whatThePolicyDoesNotCallUnknownRunsAgain() {
        Hapax hapax = world.node(
                Policy.defaults().whenAbandoned(WhenAbandoned.PARK).unknownOn(IllegalStateException.class::isInstance));
        IllegalArgumentException thrown = new IllegalArgumentException();

        assertThatThrownBy(() -> runThrowing(hapax, thrown)).isSameAs(thrown);
        assertThat(world.state()).isEqualTo(State.PENDING);
    }

    /** What cannot be classified is unknown. */
    @Test
    void unknownPredicateThatThrowsParks() {
        Hapax hapax = world.node(
                Policy.defaults().whenAbandoned(WhenAbandoned.PARK).unknownOn(UnknownOutcomeTest::brokenPredicate));

        assertThat(runThrowing(hapax, new IllegalStateException())).isInstanceOf(Outcome.InDoubt.class);
    }

    @Test
    void terminalPredicateThatThrowsParksAPayment() {
        Hapax hapax = world.node(Policy.payment().terminalOn(UnknownOutcomeTest::brokenPredicate));

        assertThat(runThrowing(hapax, new IllegalStateException())).isInstanceOf(Outcome.InDoubt.class);
    }

    private static boolean brokenPredicate(Throwable thrown) {
        throw new IllegalArgumentException("broken predicate");
    }

    private static Outcome<String> runThrowing(Hapax hapax, Throwable thrown) {
        return call(hapax).run(lease -> sneak(thrown));
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <X extends Throwable> String sneak(Throwable thrown) throws X {
        throw (X) thrown;
    }

    private String unknown(Lease lease) {
        throw noAnswer;
    }
}
