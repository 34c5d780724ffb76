package dev.hapax;

import static dev.hapax.World.call;
import static dev.hapax.World.executed;
import static dev.hapax.World.mustNotRun;
import static dev.hapax.World.replayed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.store.State;
import dev.hapax.store.WhenAbandoned;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

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

    private String unknown(Lease lease) {
        throw noAnswer;
    }
}
