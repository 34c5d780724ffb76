package dev.hapax;

import static dev.hapax.World.call;
import static dev.hapax.World.executed;
import static dev.hapax.World.mustNotRun;
import static dev.hapax.World.replayed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.hapax.FaultyStore.Op;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Without the store, with {@link OnStoreFailure#OPEN}: still one handler at a time in this process. */
class OpenModeTest {
    private static final Policy OPEN = Policy.defaults().onStoreFailure(OnStoreFailure.OPEN);
    private static final Policy WAITING = OPEN.whenInFlight(WhenInFlight.waitAtMost(Duration.ofMinutes(5)));
    private final World world = World.still();
    private final ManualScheduler scheduler = new ManualScheduler();
    private final SlowHandler handler = new SlowHandler();

    @BeforeEach
    void cutOff() {
        world.store.cutOff(Op.values());
    }

    @AfterEach
    void close() {
        handler.endWith("closed");
        world.close();
    }

    @Test
    void waitingFollowersGetTheUnprotectedResult() {
        Hapax hapax = node(WAITING);
        CompletableFuture<Outcome<String>> leader = start(hapax);
        List<CompletableFuture<Outcome<String>>> followers =
                IntStream.range(0, 8).mapToObj(i -> start(hapax)).toList();
        assertThat(handler.runs()).isEqualTo(1);
        handler.endWith("receipt");

        assertThat(executed(join(leader)).recorded()).isFalse();
        for (CompletableFuture<Outcome<String>> follower : followers) {
            Outcome.Replayed<String> replayed = replayed(join(follower));
            assertThat(replayed.value()).isEqualTo("receipt");
            assertThat(replayed.keptUntil()).isEqualTo(replayed.endedAt());
        }
        assertThat(handler.runs()).isEqualTo(1);
    }

    @Test
    void rejectedFollowersAreToldThatItRuns() {
        Hapax hapax = node(OPEN);
        start(hapax);

        assertThat(call(hapax).run(mustNotRun())).isInstanceOf(Outcome.InProgress.class);
    }

    @Test
    void followersThatCameDuringTheClaimDoNotRunAtOnce() {
        Hapax hapax = node(OPEN);
        List<CompletableFuture<Outcome<String>>> callers = IntStream.range(0, 8)
                .mapToObj(i -> call(hapax).runAsync(handler::runAsync).toCompletableFuture())
                .toList();
        scheduler.advance(Duration.ofSeconds(2));
        handler.lease();
        handler.endWith("receipt");

        assertThat(callers.stream().map(OpenModeTest::join).filter(Outcome.InProgress.class::isInstance))
                .hasSize(7);
        assertThat(handler.runs()).isEqualTo(1);
    }

    @Test
    void otherRequestUnderTheSameKeyDoesNotRun() {
        Hapax hapax = node(WAITING);
        start(hapax);

        assertThat(call(hapax).fingerprint(World.OTHER_REQUEST).run(mustNotRun()))
                .isInstanceOf(Outcome.Mismatched.class);
    }

    @Test
    void followerOfAFailedHandlerRunsNext() {
        Hapax hapax = node(WAITING);
        CompletableFuture<Outcome<String>> leader = start(hapax);
        CompletableFuture<Outcome<String>> follower = call(hapax)
                .runAsync(lease -> CompletableFuture.completedFuture("second"))
                .toCompletableFuture();
        handler.failWith(new IllegalStateException());
        await().until(leader::isDone);
        scheduler.advance(Duration.ofSeconds(2));

        assertThat(executed(join(follower)).value()).isEqualTo("second");
    }

    @Test
    void hungHandlerFreesItsKeyAfterMaxDuration() {
        Hapax hapax = node(OPEN);
        start(hapax);
        world.store.heal();
        scheduler.advance(OPEN.maxDuration().minus(Duration.ofSeconds(10)));
        assertThat(call(hapax).run(mustNotRun())).isInstanceOf(Outcome.InProgress.class);
        scheduler.advance(Duration.ofSeconds(10));

        assertThat(executed(call(hapax).run(lease -> "receipt")).recorded()).isTrue();
    }

    private Hapax node(Policy policy) {
        return world.node(policy, builder -> builder.scheduler(scheduler));
    }

    /** Claims as long as it is patient, and runs then. */
    private CompletableFuture<Outcome<String>> start(Hapax hapax) {
        CompletableFuture<Outcome<String>> outcome =
                call(hapax).runAsync(handler::runAsync).toCompletableFuture();
        scheduler.advance(Duration.ofSeconds(2));
        handler.lease();
        return outcome;
    }

    private static <T> T join(CompletableFuture<T> stage) {
        assertThat(stage).succeedsWithin(Duration.ofSeconds(60));
        return stage.join();
    }
}
