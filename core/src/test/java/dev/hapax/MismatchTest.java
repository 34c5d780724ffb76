package dev.hapax;

import static dev.hapax.World.call;
import static dev.hapax.World.executed;
import static dev.hapax.World.mustNotRun;
import static dev.hapax.World.replayed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.Outcome.InDoubt;
import dev.hapax.Outcome.Mismatched;
import dev.hapax.store.WhenAbandoned;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The same key with another request: it never runs and never sees the result, whatever the state. */
class MismatchTest {
    private static final Policy POLICY = Policy.defaults().whenAbandoned(WhenAbandoned.PARK);
    private final World world = World.still();
    private final Hapax hapax = world.node(POLICY);

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    void whileItRunsInThisProcess() {
        SlowHandler handler = new SlowHandler();
        Caller<Outcome<String>> first = Caller.start(() -> call(hapax).run(handler));
        handler.lease();

        otherRequestIsRefused();
        handler.endWith("receipt");
        assertThat(executed(first.result()).recorded()).isTrue();
    }

    @Test
    void whileItRunsElsewhere() {
        world.claimElsewhere(POLICY);

        otherRequestIsRefused();
    }

    @Test
    void whileItRunsElsewhereAndTheCallWouldWait() {
        world.claimElsewhere(POLICY);
        Hapax waiting = world.node(POLICY.whenInFlight(WhenInFlight.waitAtMost(Duration.ofHours(1))));

        assertThat(otherRequest(waiting)).isInstanceOf(Mismatched.class);
    }

    @Test
    void onceItCompleted() {
        call(hapax).run(lease -> "receipt");

        otherRequestIsRefused();
        assertThat(replayed(call(hapax).run(mustNotRun())).value()).isEqualTo("receipt");
    }

    @Test
    void onceItFailed() {
        call(hapax).run(lease -> {
            throw new TerminalFailure(402, "declined");
        });

        otherRequestIsRefused();
    }

    @Test
    void whileItIsPending() {
        assertThatThrownBy(() -> call(hapax).run(lease -> {
                    throw new IllegalStateException("try again");
                }))
                .isInstanceOf(IllegalStateException.class);

        otherRequestIsRefused();
        assertThat(executed(call(hapax).run(lease -> "receipt")).attempt()).isEqualTo(2);
    }

    @Test
    void whileItIsInDoubt() {
        world.claimElsewhere(POLICY);
        world.clock.advance(POLICY.lease());
        world.sweep();

        otherRequestIsRefused();
        assertThat(call(hapax).run(mustNotRun())).isInstanceOf(InDoubt.class);
    }

    @Test
    void whenTheLeaseRanOutAndNobodyActedYet() {
        world.claimElsewhere(POLICY);
        world.clock.advance(POLICY.lease());

        otherRequestIsRefused();
    }

    @Test
    void whileTheFirstRequestStillClaims() {
        var claimed = world.store.delayAnswers(FaultyStore.Op.CLAIM);
        Caller<Outcome<String>> first =
                Caller.start(() -> call(hapax).run(lease -> "receipt")).untilItWaits();
        Caller<Outcome<String>> other = Caller.start(() -> otherRequest(hapax)).untilItWaits();
        claimed.complete(null);

        assertThat(executed(first.result()).value()).isEqualTo("receipt");
        assertThat(other.result()).isInstanceOf(Mismatched.class);
    }

    @Test
    void anotherRequestThatAsksFirstDoesNotSpoilTheRightOne() {
        world.claimElsewhere(POLICY);
        var claimed = world.store.delayAnswers(FaultyStore.Op.CLAIM);
        Caller<Outcome<String>> other = Caller.start(() -> otherRequest(hapax)).untilItWaits();
        Caller<Outcome<String>> right =
                Caller.start(() -> call(hapax).run(mustNotRun())).untilItWaits();
        claimed.complete(null);

        assertThat(other.result()).isInstanceOf(Mismatched.class);
        assertThat(right.result()).isInstanceOf(Outcome.InProgress.class);
    }

    private void otherRequestIsRefused() {
        assertThat(otherRequest(hapax)).isInstanceOf(Mismatched.class);
    }

    private static Outcome<String> otherRequest(Hapax node) {
        return call(node).fingerprint(World.OTHER_REQUEST).run(mustNotRun());
    }
}
