package dev.hapax;

import static dev.hapax.World.call;
import static dev.hapax.World.executed;
import static dev.hapax.World.mustNotRun;
import static dev.hapax.World.replayed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.hapax.FaultyStore.Op;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.Finish;
import dev.hapax.store.Payload;
import dev.hapax.store.Result;
import dev.hapax.store.State;
import dev.hapax.store.StoreUnavailableException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Trap 22: handlers whose turn comes when their lease is over. */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LateStartTest {
    private static final Policy POLICY = Policy.defaults();
    private final World world = World.still();
    private final ManualScheduler scheduler = new ManualScheduler();
    private final Hapax hapax = world.node(POLICY, builder -> builder.scheduler(scheduler));
    private final Queue<Runnable> queue = new LinkedBlockingQueue<>();
    private final SlowHandler handler = new SlowHandler();

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    void lateClaimIsRenewedBeforeTheHandlerBegins() {
        Caller<Outcome<String>> caller = runOnLateClaim(lease -> "renewals: " + world.store.calls(Op.RENEW), () -> {});

        assertThat(executed(caller.result()).value()).isEqualTo("renewals: 1");
    }

    @Test
    void timelyClaimIsNotRenewedFirst() {
        call(hapax).run(lease -> "receipt");

        assertThat(world.store.calls(Op.RENEW)).isZero();
    }

    @Test
    void lateClaimThatWasTakenOverDoesNotRun() {
        Caller<Outcome<String>> caller = runOnLateClaim(mustNotRun(), this::takeOver);

        assertThat(caller.result()).isInstanceOf(Outcome.InProgress.class);
        assertThat(world.stored().orElseThrow().owner()).isEqualTo("elsewhere");
    }

    @Test
    void lateClaimThatWasReleasedElsewhereStartsOver() {
        Caller<Outcome<String>> caller = runOnLateClaim(lease -> "attempt " + lease.attempt(), () -> {
            world.clock.advance(POLICY.lease());
            world.sweep();
        });

        assertThat(executed(caller.result()).value()).isEqualTo("attempt 2");
    }

    @Test
    void lateClaimThatCannotBeRenewedIsGivenBack() {
        world.store.cutOff(Op.RENEW);
        Caller<Outcome<String>> caller = runOnLateClaim(mustNotRun(), () -> {});
        await().until(() -> {
            scheduler.advance(Duration.ofSeconds(1));
            return caller.isDone();
        });

        assertThat(caller.failure()).isInstanceOf(StoreUnavailableException.class);
        assertThat(world.state()).isEqualTo(State.PENDING);
        assertThat(executed(call(hapax).run(lease -> "receipt")).attempt()).isEqualTo(1);
    }

    @Test
    void queuedHandlerIsRenewedBeforeItBegins() {
        CompletableFuture<Outcome<String>> outcome = queueUntilTheLeaseIsOver();
        int before = world.store.calls(Op.RENEW);
        queue.remove().run();
        assertThat(handler.runs()).isZero();
        assertThat(world.store.calls(Op.RENEW)).isEqualTo(before + 1);
        queue.remove().run();
        handler.endWith("receipt");

        drain();
        assertThat(executed(outcome.join()).recorded()).isTrue();
    }

    @Test
    void queuedHandlerThatWasTakenOverDoesNotRun() {
        CompletableFuture<Outcome<String>> outcome = queueUntilTheLeaseIsOver();
        takeOver();
        drain();

        assertThat(handler.runs()).isZero();
        assertThat(outcome.join()).isInstanceOf(Outcome.InProgress.class);
    }

    @Test
    void queuedCallGetsTheResultOfWhoTookOver() {
        CompletableFuture<Outcome<String>> outcome = queued();
        ClaimRequest elsewhere = takeOver();
        scheduler.advance(POLICY.lease());
        Result result = Result.completed(Payload.of("other".getBytes(StandardCharsets.UTF_8)));
        world.memory.finish(new Finish(elsewhere.id(), elsewhere.token(), result, POLICY.retention()));
        drain();

        assertThat(handler.runs()).isZero();
        assertThat(replayed(outcome.join()).value()).isEqualTo("other");
    }

    @Test
    void handlerQueuedBeyondItsMaxDurationDoesNotRun() {
        CompletableFuture<Outcome<String>> outcome = queued();
        scheduler.advance(POLICY.maxDuration().plus(POLICY.lease()));
        drain();

        assertThat(handler.runs()).isZero();
        assertThatThrownBy(outcome::join).hasCauseInstanceOf(NotBegunException.class);
        assertThat(executed(call(hapax).run(lease -> "receipt")).attempt()).isEqualTo(1);
    }

    private Caller<Outcome<String>> runOnLateClaim(Handler<String, RuntimeException> late, Runnable meanwhile) {
        CompletableFuture<Void> answered = world.store.delayAnswers(Op.CLAIM);
        Caller<Outcome<String>> caller = Caller.start(() -> call(hapax).run(late));
        await().until(() -> world.store.calls(Op.CLAIM) == 1);
        caller.untilItWaits();
        scheduler.advance(POLICY.lease());
        meanwhile.run();
        answered.complete(null);
        return caller;
    }

    private CompletableFuture<Outcome<String>> queued() {
        return call(hapax).runAsync(handler::runAsync, queue::add).toCompletableFuture();
    }

    /** Its renewals hang, so that the lease is over although nobody said so. */
    private CompletableFuture<Outcome<String>> queueUntilTheLeaseIsOver() {
        CompletableFuture<Outcome<String>> outcome = queued();
        world.store.delayAnswers(Op.RENEW);
        scheduler.advance(POLICY.lease());
        world.store.heal();
        return outcome;
    }

    private void drain() {
        for (Runnable next = queue.poll(); next != null; next = queue.poll()) {
            next.run();
        }
    }

    private ClaimRequest takeOver() {
        world.clock.advance(POLICY.lease());
        return world.claimElsewhere(POLICY);
    }
}
