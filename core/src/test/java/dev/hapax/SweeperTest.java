package dev.hapax;

import static dev.hapax.World.call;
import static dev.hapax.World.keyed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import dev.hapax.FaultyStore.Op;
import dev.hapax.store.State;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SweeperTest {
    private static final Duration OFTEN = Duration.ofMillis(10);
    private final World world = World.still();

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    void sweepsAgainAndAgain() {
        try (Sweeper sweeper = sweeper()) {
            await().until(() -> world.store.calls(Op.SWEEP) >= 3);
        }
    }

    @Test
    void reopensWhatWasAbandonedAndTellsTheListener() {
        world.claimElsewhere(Policy.defaults());
        world.clock.advance(Policy.defaults().lease());
        try (Sweeper sweeper = sweeper()) {
            await().untilAsserted(() -> assertThat(world.heard.events()).containsExactly("leaseExpired 1", "swept 1"));
        }

        assertThat(world.state()).isEqualTo(State.PENDING);
    }

    @Test
    void removesWhatWasKeptLongEnough() {
        call(world.node(Policy.defaults())).run(lease -> "receipt");
        world.clock.advance(Policy.defaults().retention());
        try (Sweeper sweeper = sweeper()) {
            await().until(() -> world.stored().isEmpty());
        }
    }

    @Test
    void leavesALiveClaimAlone() {
        world.claimElsewhere(Policy.defaults());
        try (Sweeper sweeper = sweeper()) {
            await().until(() -> world.store.calls(Op.SWEEP) >= 3);
        }

        assertThat(world.state()).isEqualTo(State.PROCESSING);
        assertThat(world.heard.events()).isEmpty();
    }

    @Test
    void survivesAStoreThatCannotBeReached() {
        world.store.cutOff(Op.SWEEP);
        world.claimElsewhere(Policy.defaults());
        world.clock.advance(Policy.defaults().lease());
        try (Sweeper sweeper = sweeper()) {
            await().until(() -> world.store.calls(Op.SWEEP) >= 3);
            world.store.heal();
            await().untilAsserted(() -> assertThat(world.heard.events()).containsExactly("leaseExpired 1", "swept 1"));
        }
    }

    @Test
    void survivesAStoreThatFailsWithAnError() {
        world.store.breakDown(Op.SWEEP, new NoClassDefFoundError("com/example/Missing"));
        try (Sweeper sweeper = sweeper()) {
            await().atMost(Duration.ofSeconds(60)).until(() -> world.store.calls(Op.SWEEP) >= 3);
        }
    }

    @Test
    void goesOnWhileThereIsMore() {
        Hapax node = world.node(Policy.defaults());
        for (int i = 0; i <= Sweeper.MAX_BATCH_SIZE; i++) {
            keyed(node, "many-" + i).run(lease -> "receipt");
        }
        world.clock.advance(Policy.defaults().retention());
        world.heard.events().clear();
        try (Sweeper sweeper = sweeper()) {
            await().untilAsserted(
                            () -> assertThat(world.heard.events()).contains("swept " + (Sweeper.MAX_BATCH_SIZE + 1)));
        }
    }

    @Test
    void sweepsNoMoreOnceClosed() {
        sweepsNoMoreAfterClosing(sweeper());
    }

    @Test
    void closingTwiceDoesNothing() {
        Sweeper sweeper = sweeper();
        sweeper.close();

        sweepsNoMoreAfterClosing(sweeper);
    }

    @Test
    void aNodeSweepsUntilItIsClosed() {
        Hapax node = world.node(Policy.defaults(), builder -> builder.sweepEvery(OFTEN));
        await().until(() -> world.store.calls(Op.SWEEP) >= 2);

        sweepsNoMoreAfterClosing(node);
    }

    @Test
    void aNodeWithoutASweeperDoesNotSweep() {
        world.node(Policy.defaults(), builder -> builder.sweepEvery(OFTEN).withoutSweeper());

        await().during(Duration.ofMillis(200)).until(() -> world.store.calls(Op.SWEEP) == 0);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1})
    void sweepingNeedsAPause(long millis) {
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        Sweeper.start(world.store, Duration.ofMillis(millis)).close());
    }

    private Sweeper sweeper() {
        return Sweeper.start(world.store, OFTEN, world.heard);
    }

    private void sweepsNoMoreAfterClosing(AutoCloseable sweeping) {
        try {
            sweeping.close();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        int atMost = world.store.calls(Op.SWEEP) + 1;

        await().during(Duration.ofMillis(300)).until(() -> world.store.calls(Op.SWEEP) <= atMost);
    }
}
