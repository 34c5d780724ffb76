package dev.hapax;

import static dev.hapax.World.call;
import static dev.hapax.World.executed;
import static dev.hapax.World.mustNotRun;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.store.OperationKey;
import dev.hapax.store.WhenAbandoned;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ListenerTest {
    private static final Policy POLICY = Policy.defaults();
    private final World world = World.still();
    private final Hapax hapax = world.node(POLICY);

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    void hearsAFreshCallAndItsReplay() {
        call(hapax).run(lease -> "receipt");
        call(hapax).run(mustNotRun());

        assertThat(world.heard.events()).containsExactly("claimed 1", "completed 1", "replayed");
    }

    @Test
    void hearsATerminalFailure() {
        call(hapax).run(lease -> {
            throw new TerminalFailure(402, "declined");
        });

        assertThat(world.heard.events()).containsExactly("claimed 1", "failed 1");
    }

    @Test
    void hearsAReleaseAndTheNextAttempt() {
        assertThatThrownBy(() -> call(hapax).run(lease -> {
                    throw new IllegalStateException();
                }))
                .isNotNull();
        call(hapax).run(lease -> "receipt");

        assertThat(world.heard.events()).containsExactly("claimed 1", "released 1", "claimed 2", "completed 2");
    }

    @Test
    void hearsThatAnotherNodeIsRunning() {
        world.claimElsewhere(POLICY);
        call(hapax).run(mustNotRun());

        assertThat(world.heard.events()).containsExactly("inProgress");
    }

    @Test
    void hearsAMismatch() {
        world.claimElsewhere(POLICY);
        call(hapax).fingerprint(World.OTHER_REQUEST).run(mustNotRun());

        assertThat(world.heard.events()).containsExactly("mismatched");
    }

    @Test
    void hearsThatAnOperationIsInDoubt() {
        world.claimElsewhere(POLICY.whenAbandoned(WhenAbandoned.PARK));
        world.clock.advance(POLICY.lease());
        call(hapax).run(mustNotRun());

        assertThat(world.heard.events()).containsExactly("inDoubt");
    }

    @Test
    void aListenerThatThrowsChangesNothing() {
        Hapax node = world.node(POLICY, builder -> builder.listener(throwing(new IllegalStateException("listener"))));

        assertThat(executed(call(node).run(lease -> "receipt")).recorded()).isTrue();
    }

    @Test
    void aListenerThatThrowsAnErrorChangesNothing() {
        Hapax node = world.node(POLICY, builder -> builder.listener(throwing(new AssertionError("listener"))));

        assertThat(executed(call(node).run(lease -> "receipt")).recorded()).isTrue();
    }

    @Test
    void theListenersAfterOneThatThrowsAreTold() {
        Heard after = new Heard();
        Hapax node = world.node(
                POLICY,
                builder -> builder.listener(throwing(new AssertionError("listener")))
                        .listener(after));
        call(node).run(lease -> "receipt");

        assertThat(after.events()).containsExactly("claimed 1", "completed 1");
    }

    private static HapaxListener throwing(Throwable thrown) {
        return new HapaxListener() {
            @Override
            public void claimed(OperationKey key, int attempt) {
                fail();
            }

            @Override
            public void completed(OperationKey key, int attempt, Duration took) {
                fail();
            }

            private void fail() {
                if (thrown instanceof Error error) {
                    throw error;
                }
                throw (RuntimeException) thrown;
            }
        };
    }
}
