package dev.hapax;

import static dev.hapax.World.call;
import static dev.hapax.World.executed;
import static dev.hapax.World.mustNotRun;
import static dev.hapax.World.replayed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.Outcome.Executed;
import dev.hapax.Outcome.InProgress;
import dev.hapax.codec.ResultType;
import dev.hapax.store.OperationKey;
import dev.hapax.store.State;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RunTest {
    private static final Policy POLICY = Policy.defaults();
    private final World world = World.still();
    private final Hapax hapax = world.node(POLICY, builder -> builder.scope("orders", POLICY));

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    void aFreshCallRuns() {
        Executed<String> outcome = executed(call(hapax).run(lease -> "receipt"));

        assertThat(outcome.value()).isEqualTo("receipt");
        assertThat(outcome.attempt()).isEqualTo(1);
        assertThat(outcome.recorded()).isTrue();
        assertThat(outcome.operationId()).isEqualTo(World.KEY.id());
    }

    @Test
    void aFreshCallCostsOneClaimAndOneFinish() {
        call(hapax).run(lease -> "receipt");

        assertThat(world.store.calls()).isEqualTo(2);
    }

    @Test
    void theHandlerRunsOnTheCallersThread() {
        Thread[] ran = new Thread[1];
        call(hapax).run(lease -> {
            ran[0] = Thread.currentThread();
            return "receipt";
        });

        assertThat(ran[0]).isSameAs(Thread.currentThread());
    }

    @Test
    void theHandlerKnowsItsOperationAttemptAndToken() {
        call(hapax).run(lease -> {
            assertThat(lease.operationId()).isEqualTo(World.KEY.id());
            assertThat(lease.attempt()).isEqualTo(1);
            assertThat(lease.token()).isEqualTo(world.stored().orElseThrow().token());
            assertThat(lease.isLost()).isFalse();
            return "receipt";
        });
    }

    @Test
    void aRetryGetsAnEqualResultWithoutRunning() {
        call(hapax).run(lease -> "receipt");

        assertThat(replayed(call(hapax).run(mustNotRun())).value()).isEqualTo("receipt");
    }

    @Test
    void aRetryOnAnotherNodeGetsTheSame() {
        call(hapax).run(lease -> "receipt");

        assertThat(replayed(call(world.node(POLICY)).run(mustNotRun())).value()).isEqualTo("receipt");
    }

    @Test
    void anUntypedResultIsReplayedByteForByte() {
        byte[] bytes = {0, -1, 13, 10};
        hapax.scope("payments").key("raw").run(lease -> bytes);

        byte[] again = replayed(hapax.scope("payments").key("raw").run(World.<byte[]>mustNotRun()))
                .value();
        assertThat(again).isEqualTo(bytes).isNotSameAs(bytes);
    }

    @Test
    void aCallMayBeRunAgain() {
        Call<String> call = call(hapax);
        call.run(lease -> "receipt");

        assertThat(replayed(call.run(mustNotRun())).value()).isEqualTo("receipt");
    }

    @Test
    void everyTenantHasItsOwnOperations() {
        AtomicInteger runs = new AtomicInteger();
        hapax.scope("payments").tenant("a").key("k").returning(Integer.class).run(lease -> runs.incrementAndGet());
        hapax.scope("payments").tenant("b").key("k").returning(Integer.class).run(lease -> runs.incrementAndGet());
        hapax.scope("payments").key("k").returning(Integer.class).run(lease -> runs.incrementAndGet());

        assertThat(runs).hasValue(3);
    }

    @Test
    void everyScopeHasItsOwnOperations() {
        AtomicInteger runs = new AtomicInteger();
        hapax.scope("payments").key("k").returning(Integer.class).run(lease -> runs.incrementAndGet());
        hapax.scope("orders").key("k").returning(Integer.class).run(lease -> runs.incrementAndGet());

        assertThat(runs).hasValue(2);
    }

    @Test
    void tenantAndKeyDoNotRunIntoEachOther() {
        AtomicInteger runs = new AtomicInteger();
        hapax.scope("payments").tenant("a|b").key("c").returning(Integer.class).run(lease -> runs.incrementAndGet());
        hapax.scope("payments").tenant("a").key("b|c").returning(Integer.class).run(lease -> runs.incrementAndGet());

        assertThat(runs).hasValue(2);
    }

    @Test
    void anOperationThatWasKeptLongEnoughBeginsAnew() {
        call(hapax).run(lease -> "first");
        world.clock.advance(POLICY.retention());

        Executed<String> again = executed(call(hapax).run(lease -> "second"));
        assertThat(again.value()).isEqualTo("second");
        assertThat(again.attempt()).isEqualTo(1);
    }

    @Test
    void anOperationIsKeptUntilItsRetentionIsOver() {
        call(hapax).run(lease -> "first");
        world.clock.advance(POLICY.retention().minusNanos(1));

        assertThat(replayed(call(hapax).run(mustNotRun())).value()).isEqualTo("first");
    }

    @Test
    void retentionCountsFromTheEndOfTheWork() {
        call(hapax).run(lease -> {
            world.clock.advance(Duration.ofHours(23));
            return "first";
        });
        world.clock.advance(Duration.ofHours(23));

        assertThat(replayed(call(hapax).run(mustNotRun())).value()).isEqualTo("first");
    }

    @Test
    void aHandlerThatCallsItsOwnOperationIsToldThatItIsInProgress() {
        Executed<String> outcome = executed(call(hapax).run(lease -> {
            assertThat(call(hapax).run(mustNotRun())).isInstanceOf(InProgress.class);
            return "receipt";
        }));

        assertThat(outcome.recorded()).isTrue();
    }

    @Test
    void nullIsTheResultOfAnOperationThatHasNone() {
        Call<Void> call = hapax.scope("payments").key("void").returning(Void.class);

        assertThat(executed(call.run(lease -> null)).value()).isNull();
        assertThat(replayed(call.run(mustNotRun())).value()).isNull();
    }

    @Test
    void callsWithoutAFingerprintAreTheSameRequest() {
        hapax.scope("payments").key("plain").run(lease -> "v".getBytes(StandardCharsets.UTF_8));

        replayed(hapax.scope("payments").key("plain").run(World.<byte[]>mustNotRun()));
    }

    @Test
    void findLooksAndDoesNotClaim() {
        Optional<State> before = call(hapax).find().toCompletableFuture().join().map(found -> found.state());
        call(hapax).run(lease -> "receipt");
        Optional<State> after = call(hapax).find().toCompletableFuture().join().map(found -> found.state());

        assertThat(before).isEmpty();
        assertThat(after).contains(State.COMPLETED);
    }

    @Test
    void theStoreIsToldWhoClaims() {
        call(world.node(POLICY, builder -> builder.owner("node-7"))).run(lease -> "receipt");

        assertThat(world.stored().orElseThrow().owner()).isEqualTo("node-7");
        assertThat(world.stored().orElseThrow().key()).isEqualTo(new OperationKey("acct_42", "payments", "k-1"));
    }

    @Test
    void aReplaySaysWhenItEndedAndUntilWhenItIsKept() {
        Instant ended = world.clock.instant();
        call(hapax).run(lease -> "receipt");
        world.clock.advance(Duration.ofHours(1));

        Outcome.Replayed<String> replayed = replayed(call(hapax).run(mustNotRun()));
        assertThat(replayed.endedAt()).isEqualTo(ended);
        assertThat(replayed.keptUntil()).isEqualTo(ended.plus(Policy.defaults().retention()));
    }

    @Test
    void runOnceDoesWhatHasNoResultOnce() {
        AtomicInteger runs = new AtomicInteger();
        executed(call(hapax).runOnce(runs::incrementAndGet));

        assertThat(replayed(call(hapax).runOnce(runs::incrementAndGet)).value()).isNull();
        assertThat(runs).hasValue(1);
    }

    @Test
    void runOnceGivesTheLease() {
        AtomicReference<Lease> given = new AtomicReference<>();
        executed(call(hapax).runOnce(given::set));

        assertThat(given.get().operationId()).isEqualTo(World.KEY.id());
    }

    @Test
    void runOnceThrowsWhatTheActionThrows() {
        IOException thrown = new IOException("try again");

        assertThatThrownBy(() -> call(hapax).runOnce(lease -> {
                    throw thrown;
                }))
                .isSameAs(thrown);
        assertThat(world.state()).isEqualTo(State.PENDING);
    }

    @Test
    void resultsMayHaveTypeParameters() {
        Call<List<Integer>> call = call(hapax).returning(new ResultType<List<Integer>>() {});
        call.run(lease -> List.of(1, 2));

        assertThat(replayed(call.run(mustNotRun())).value()).containsExactly(1, 2);
    }
}
