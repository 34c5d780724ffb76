package dev.hapax;

import static dev.hapax.World.call;
import static dev.hapax.World.executed;
import static dev.hapax.World.mustNotRun;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.hapax.store.ExpiredLease;
import dev.hapax.store.OperationKey;
import dev.hapax.store.WhenAbandoned;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

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

        assertThat(world.heard.events()).containsExactly("leaseExpired 1", "inDoubt");
    }

    @Test
    void hearsOfATakeOverOnce() {
        world.claimElsewhere(POLICY);
        world.clock.advance(POLICY.lease());
        call(hapax).run(lease -> "receipt");
        call(hapax).run(mustNotRun());

        assertThat(world.heard.events()).containsExactly("leaseExpired 1", "claimed 2", "completed 2", "replayed");
    }

    @Test
    void hearsWhichLeaseExpired() {
        List<ExpiredLease> expired = new CopyOnWriteArrayList<>();
        Hapax node = world.node(
                POLICY,
                builder -> builder.listener(new HapaxListener() {
                    @Override
                    public void leaseExpired(ExpiredLease lease) {
                        expired.add(lease);
                    }
                }));
        world.claimElsewhere(POLICY);
        world.clock.advance(POLICY.lease());
        call(node).run(lease -> "receipt");

        assertThat(expired).containsExactly(new ExpiredLease(World.KEY.id(), World.KEY, 1, "elsewhere"));
    }

    @Test
    void hearsOfAnAbandonedOperationThatAClaimEnds() {
        world.claimElsewhere(POLICY.whenAbandoned(WhenAbandoned.FAIL));
        world.clock.advance(POLICY.lease());
        call(hapax).run(mustNotRun());
        call(hapax).run(mustNotRun());

        assertThat(world.heard.events()).containsExactly("leaseExpired 1", "replayed", "replayed");
    }

    /** A crash is reported by who finds it: the claim after a sweep finds none. */
    @Test
    void hearsNoTakeOverAfterASweep() {
        world.claimElsewhere(POLICY);
        world.clock.advance(POLICY.lease());
        world.sweep();
        call(hapax).run(lease -> "receipt");

        assertThat(world.heard.events()).containsExactly("claimed 2", "completed 2");
    }

    @Test
    void logNamesTheOperationThatWasTakenOver() {
        Logger logger = (Logger) LoggerFactory.getLogger(ExpiredLeases.class);
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        Level before = logger.getLevel();
        logger.setLevel(Level.WARN);
        logger.addAppender(logged);
        try {
            world.claimElsewhere(POLICY);
            world.clock.advance(POLICY.lease());
            call(hapax).run(lease -> "receipt");
        } finally {
            logger.detachAppender(logged);
            logger.setLevel(before);
        }

        assertThat(logged.list).singleElement().satisfies(event -> {
            assertThat(event.getLevel()).isEqualTo(Level.WARN);
            assertThat(event.getFormattedMessage())
                    .contains(World.KEY.id().toString())
                    .contains("elsewhere");
        });
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
