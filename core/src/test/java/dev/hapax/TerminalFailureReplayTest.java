package dev.hapax;

import static dev.hapax.World.call;
import static dev.hapax.World.executed;
import static dev.hapax.World.mustNotRun;
import static dev.hapax.World.replayed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.hapax.FaultyStore.Op;
import dev.hapax.codec.Codec;
import dev.hapax.store.OperationKey;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Declared failures are replayed as what they are. */
class TerminalFailureReplayTest {
    private static final Codec<CardDeclined> BY_REASON = Codec.text().map(CardDeclined::reason, CardDeclined::new);
    private static final Policy DECLARED = Policy.defaults().failure(CardDeclined.class, BY_REASON);
    private final World world = World.still();

    @AfterEach
    void close() {
        world.close();
    }

    /** What a user's handler throws. */
    private static class CardDeclined extends TerminalFailure {
        private static final long serialVersionUID = 1L;
        private final String reason;

        CardDeclined(String reason) {
            super(402, "declined: " + reason);
            this.reason = reason;
        }

        String reason() {
            return reason;
        }
    }

    private static final class CardExpired extends CardDeclined {
        private static final long serialVersionUID = 1L;

        CardExpired() {
            super("expired");
        }
    }

    @Test
    void declaredFailureIsReplayedAsItsOwnType() {
        fail(world.node(DECLARED), new CardDeclined("stolen"));
        Outcome<String> retry = call(world.node(DECLARED)).run(mustNotRun());

        assertThatExceptionOfType(CardDeclined.class)
                .isThrownBy(retry::orElseThrow)
                .satisfies(declined -> {
                    assertThat(declined.reason()).isEqualTo("stolen");
                    assertThat(declined.code()).isEqualTo(402);
                });
    }

    @Test
    void waitingCallGetsTheTypeToo() {
        Hapax hapax = world.node(DECLARED.whenInFlight(WhenInFlight.waitAtMost(Duration.ofMinutes(5))));
        SlowHandler handler = new SlowHandler();
        call(hapax).runAsync(handler::runAsync);
        handler.lease();
        CompletableFuture<Outcome<String>> waiter =
                call(hapax).runAsync(handler::runAsync).toCompletableFuture();
        handler.failWith(new CardDeclined("stolen"));

        assertThat(waiter).succeedsWithin(Duration.ofSeconds(60));
        assertThat(failureOf(waiter.join())).isInstanceOf(CardDeclined.class);
    }

    @Test
    void undeclaredFailureIsReplayedAsItsBaseType() {
        fail(world.node(DECLARED), new CardDeclined("stolen"));

        assertPlain(failureOf(call(world.node(Policy.defaults())).run(mustNotRun())));
    }

    @Test
    void subclassOfADeclaredFailureIsAnotherType() {
        Hapax hapax = world.node(DECLARED);
        fail(hapax, new CardExpired());

        assertThat(failureOf(call(hapax).run(mustNotRun())))
                .isExactlyInstanceOf(TerminalFailure.class)
                .hasMessage("declined: expired");
    }

    @Test
    void failureThatCannotBeEncodedIsReplayedAsItsBaseType() {
        Hapax hapax = world.node(Policy.defaults().failure(CardDeclined.class, broken()));
        fail(hapax, new CardDeclined("stolen"));

        assertPlain(failureOf(call(hapax).run(mustNotRun())));
    }

    @Test
    void failureThatCannotBeDecodedIsReplayedAsItsBaseType() {
        fail(world.node(DECLARED), new CardDeclined("stolen"));

        assertPlain(failureOf(call(world.node(Policy.defaults().failure(CardDeclined.class, broken())))
                .run(mustNotRun())));
    }

    @Test
    void listenerHearsTheTypeOfAFailureThatIsStoredLate() {
        CompletableFuture<TerminalFailure> heard = new CompletableFuture<>();
        Hapax hapax = world.node(
                DECLARED.lease(Duration.ofMillis(300)),
                builder -> builder.listener(new HapaxListener() {
                    @Override
                    public void failed(OperationKey key, int attempt, TerminalFailure failure) {
                        heard.complete(failure);
                    }
                }));
        world.store.cutOff(Op.FINISH);
        fail(hapax, new CardDeclined("stolen"));
        world.store.heal();

        assertThat(heard).succeedsWithin(Duration.ofSeconds(60)).isInstanceOf(CardDeclined.class);
    }

    private static Codec<CardDeclined> broken() {
        return Codec.text().map(TerminalFailureReplayTest::refuse, reason -> new CardDeclined(refuse(reason)));
    }

    private static String refuse(Object value) {
        throw new IllegalStateException("no codec for " + value);
    }

    private static void assertPlain(TerminalFailure failure) {
        assertThat(failure).isExactlyInstanceOf(TerminalFailure.class).hasMessage("declined: stolen");
        assertThat(failure.code()).isEqualTo(402);
    }

    private static TerminalFailure failureOf(Outcome<String> retry) {
        return replayed(retry).ending().failure().orElseThrow();
    }

    private static void fail(Hapax hapax, TerminalFailure failure) {
        executed(call(hapax).run(lease -> {
            throw failure;
        }));
    }
}
