package dev.hapax;

import static dev.hapax.World.call;
import static dev.hapax.World.executed;
import static dev.hapax.World.mustNotRun;
import static dev.hapax.World.replayed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.hapax.store.ClaimRequest;
import dev.hapax.store.Finish;
import dev.hapax.store.Result;
import dev.hapax.store.State;
import dev.hapax.store.WhenAbandoned;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FailureTest {
    private static final Policy POLICY = Policy.defaults();
    private final World world = World.still();
    private final Hapax hapax = world.node(POLICY);

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    void aRetryableExceptionIsRethrownAsItWas() {
        IllegalStateException thrown = new IllegalStateException("try again");

        assertThat(failOn(hapax, thrown)).isSameAs(thrown).hasNoSuppressedExceptions();
    }

    @Test
    void aCheckedExceptionIsRethrownAsItWas() {
        IOException thrown = new FileNotFoundException("try again");

        assertThatThrownBy(() -> call(hapax).run(lease -> {
                    throw thrown;
                }))
                .isSameAs(thrown);
    }

    @Test
    void anErrorIsRethrownAsItWas() {
        Error thrown = new StackOverflowError();

        assertThat(failOn(hapax, thrown)).isSameAs(thrown);
    }

    @Test
    void aRetryableExceptionGivesTheClaimBack() {
        failOn(hapax, new IllegalStateException());

        assertThat(world.state()).isEqualTo(State.PENDING);
    }

    @Test
    void anErrorGivesTheClaimBack() {
        failOn(hapax, new AssertionError());

        assertThat(world.state()).isEqualTo(State.PENDING);
    }

    @Test
    void theCallAfterARetryableExceptionIsTheSecondAttempt() {
        failOn(hapax, new IllegalStateException());

        assertThat(executed(call(hapax).run(lease -> "receipt")).attempt()).isEqualTo(2);
    }

    @Test
    void aTerminalFailureIsAnOutcomeNotAnException() {
        TerminalFailure declined = new TerminalFailure(402, "card declined");

        var outcome = executed(call(hapax).run(lease -> {
            throw declined;
        }));
        assertThat(outcome.recorded()).isTrue();
        assertThat(outcome.ending().failure()).containsSame(declined);
        assertThat(world.state()).isEqualTo(State.FAILED);
    }

    @Test
    void aTerminalFailureIsReplayedWithItsCodeAndMessage() {
        failOn(hapax, new TerminalFailure(402, "card declined"));

        TerminalFailure again =
                replayed(call(hapax).run(mustNotRun())).ending().failure().orElseThrow();
        assertThat(again.code()).isEqualTo(402);
        assertThat(again).hasMessage("card declined");
    }

    @Test
    void thePolicySaysWhatElseIsTerminal() {
        Hapax node = world.node(POLICY.terminalOn(FileNotFoundException.class::isInstance));
        failOn(node, new FileNotFoundException("gone"));

        TerminalFailure again =
                replayed(call(node).run(mustNotRun())).ending().failure().orElseThrow();
        assertThat(again.code()).isZero();
        assertThat(again).hasMessageContaining("gone");
    }

    @Test
    void anExceptionThatThePolicyMadeTerminalIsTheCauseOfTheFailure() {
        Hapax node = world.node(POLICY.terminalOn(IOException.class::isInstance));
        IOException thrown = new IOException("gone");

        Outcome<String> outcome = run(node, thrown);
        assertThat(executed(outcome).ending().failure().orElseThrow()).hasCause(thrown);
    }

    /** Trap 4. */
    @Test
    void onlyOneOfManyRetriesReRunsAFailedOperation() {
        failOn(hapax, new IllegalStateException());
        AtomicInteger runs = new AtomicInteger();
        List<Caller<Outcome<String>>> retries = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            Hapax node = i % 2 == 0 ? hapax : world.node(POLICY);
            retries.add(Caller.start(() -> call(node).run(lease -> {
                runs.incrementAndGet();
                return "receipt";
            })));
        }
        retries.forEach(Caller::result);

        assertThat(runs).hasValue(1);
    }

    @Test
    void poisonEndsAsFailed() {
        Hapax node = world.node(POLICY.maxAttempts(2));
        failOn(node, new IllegalStateException());
        failOn(node, new IllegalStateException());

        assertThat(replayed(call(node).run(mustNotRun())).ending().failure()).isPresent();
        assertThat(world.state()).isEqualTo(State.FAILED);
    }

    @Test
    void whatNeverBeganIsNoPoison() {
        Hapax node = world.node(POLICY.maxAttempts(2));
        for (int i = 0; i < 3; i++) {
            failOn(node, new NotBegunException("its turn did not come"));
        }

        assertThat(executed(call(node).run(lease -> "receipt")).attempt()).isEqualTo(1);
    }

    @Test
    void poisonIsParkedWhereThePolicyParks() {
        Hapax node = world.node(POLICY.maxAttempts(1).whenAbandoned(WhenAbandoned.PARK));
        failOn(node, new IllegalStateException());

        assertThat(call(node).run(mustNotRun())).isInstanceOf(Outcome.InDoubt.class);
        assertThat(world.state()).isEqualTo(State.IN_DOUBT);
    }

    @Test
    void anAbandonedOperationRunsAgain() {
        abandon(WhenAbandoned.RERUN);

        assertThat(executed(call(hapax).run(lease -> "receipt")).attempt()).isEqualTo(2);
    }

    @Test
    void anAbandonedOperationFailsWhereThePolicyFails() {
        abandon(WhenAbandoned.FAIL);

        TerminalFailure failure =
                replayed(call(hapax).run(mustNotRun())).ending().failure().orElseThrow();
        assertThat(failure.code()).isEqualTo(Result.ABANDONED);
    }

    @Test
    void anAbandonedOperationIsParkedWhereThePolicyParks() {
        abandon(WhenAbandoned.PARK);

        assertThat(call(hapax).run(mustNotRun())).isInstanceOf(Outcome.InDoubt.class);
        assertThat(call(hapax).run(mustNotRun())).isInstanceOf(Outcome.InDoubt.class);
    }

    @Test
    void anAbandonedOperationThatWasSweptRunsAgain() {
        abandon(WhenAbandoned.RERUN);
        world.sweep();

        assertThat(executed(call(hapax).run(lease -> "receipt")).attempt()).isEqualTo(2);
    }

    @Test
    void anOperationIsNotAbandonedBeforeItsLeaseRanOut() {
        world.claimElsewhere(POLICY);
        world.clock.advance(POLICY.lease().minusNanos(1));

        assertThat(call(hapax).run(mustNotRun())).isInstanceOf(Outcome.InProgress.class);
    }

    /** Trap 3. */
    @Test
    void theOwnerOfBeforeCannotReplaceTheResultOfItsSuccessor() {
        ClaimRequest stale = world.claimElsewhere(POLICY);
        world.clock.advance(POLICY.lease());
        call(hapax).run(lease -> "successor");
        world.memory.finish(new Finish(stale.id(), stale.token(), Result.failed(500, "zombie"), Duration.ofDays(1)));

        assertThat(replayed(call(hapax).run(mustNotRun())).value()).isEqualTo("successor");
    }

    /** A predicate of the user's that fails must not keep the claim. */
    @Test
    void aTerminalPredicateThatThrowsGivesTheClaimBack() {
        Predicate<Throwable> broken = thrown -> {
            throw new IllegalArgumentException("broken predicate");
        };
        Hapax node = world.node(POLICY.terminalOn(broken));
        failOn(node, new IllegalStateException());

        assertThat(world.state()).isEqualTo(State.PENDING);
    }

    /** An exception of the user's that cannot be printed must not keep the claim. */
    @Test
    void anExceptionThatCannotBePrintedGivesTheClaimBack() {
        failOn(hapax, new Unprintable());

        assertThat(world.state()).isEqualTo(State.PENDING);
    }

    private static final class Unprintable extends RuntimeException {
        private static final long serialVersionUID = 1L;

        @Override
        public String getMessage() {
            throw new IllegalStateException("cannot be printed");
        }
    }

    private void abandon(WhenAbandoned whenAbandoned) {
        world.claimElsewhere(POLICY.whenAbandoned(whenAbandoned));
        world.clock.advance(POLICY.lease());
    }

    private static Throwable failOn(Hapax node, Throwable thrown) {
        return catchThrowable(() -> run(node, thrown));
    }

    private static Outcome<String> run(Hapax node, Throwable thrown) {
        return call(node).run(lease -> sneak(thrown));
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <X extends Throwable> String sneak(Throwable thrown) throws X {
        throw (X) thrown;
    }
}
