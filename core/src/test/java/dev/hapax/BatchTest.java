package dev.hapax;

import static dev.hapax.World.executed;
import static dev.hapax.World.replayed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import dev.hapax.FaultyStore.Op;
import dev.hapax.codec.ResultType;
import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.Finish;
import dev.hapax.store.InvalidKeyException;
import dev.hapax.store.StoreTransaction;
import dev.hapax.store.Written;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BatchTest {
    private final World world = World.still();
    private final Hapax hapax = world.node(Policy.defaults());
    private final Scope scope = hapax.scope("payments");
    private final CompletableFuture<Void> gate = new CompletableFuture<>();

    @AfterEach
    void close() {
        gate.complete(null);
        world.close();
    }

    @Test
    void resultsComeInTheOrderOfTheItems() {
        List<String> items = items(50);
        List<Batch.Result<String, String>> results = text(items).run((item, lease) -> "did " + item);

        assertThat(results).extracting(Batch.Result::item).isEqualTo(items);
        assertThat(results)
                .allSatisfy(it -> assertThat(executed(it.outcome()).value()).isEqualTo("did " + it.item()));
    }

    @Test
    void secondRunReplaysAll() {
        text(items(20)).run((item, lease) -> item);

        assertThat(text(items(20)).run((item, lease) -> "must not run"))
                .allSatisfy(it -> assertThat(replayed(it.outcome()).value()).isEqualTo(it.item()));
    }

    @Test
    void failingItemDoesNotStopTheOthers() {
        IOException thrown = new IOException("try again");
        List<Batch.Result<String, String>> results = text(items(5)).run((item, lease) -> {
            if (item.equals("item-2")) {
                throw thrown;
            }
            return item;
        });

        assertThat(results.get(2).thrown()).isSameAs(thrown);
        assertThat(results.get(2).outcome()).isNull();
        assertThat(results)
                .filteredOn(it -> it.outcome() instanceof Outcome.Executed)
                .hasSize(4);
    }

    @Test
    void itemWithoutAUsableKeyDoesNotStopTheOthers() {
        List<Batch.Result<String, Void>> results =
                scope.runAll(List.of("a", "b c", "d"), item -> item, (item, lease) -> {});

        assertThat(results.get(1).thrown()).isInstanceOf(InvalidKeyException.class);
        assertThat(List.of(results.get(0), results.get(2))).allSatisfy(it -> executed(it.outcome()));
    }

    @Test
    void neverClaimsMoreThanMayRun() {
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Caller<List<Batch.Result<String, String>>> caller =
                Caller.start(() -> text(items(12)).concurrency(3).run((item, lease) -> {
                    most.accumulateAndGet(running.incrementAndGet(), Math::max);
                    gate.join();
                    running.decrementAndGet();
                    return item;
                }));
        await().until(() -> running.get() == 3);
        caller.untilItWaits();
        assertThat(world.store.calls(Op.CLAIM)).isEqualTo(3);
        gate.complete(null);

        assertThat(caller.result()).hasSize(12);
        assertThat(most).hasValue(3);
    }

    @Test
    void claimsTravelTogether() {
        text(items(16)).run((item, lease) -> item);

        assertThat(world.store.batches()).containsExactly(16);
    }

    @Test
    void duplicateKeyRunsOnce() {
        AtomicInteger runs = new AtomicInteger();
        List<Batch.Result<String, String>> results =
                text(List.of("same", "same")).concurrency(1).run((item, lease) -> "run " + runs.incrementAndGet());

        assertThat(executed(results.get(0).outcome()).value()).isEqualTo("run 1");
        assertThat(replayed(results.get(1).outcome()).value()).isEqualTo("run 1");
    }

    @Test
    void duplicateKeyAtTheSameTimeFollowsThePolicy() {
        Caller<List<Batch.Result<String, String>>> caller =
                Caller.start(() -> text(List.of("same", "same", "last")).run((item, lease) -> {
                    gate.join();
                    return item;
                }));
        await().until(() -> world.heard.events().contains("inProgress"));
        gate.complete(null);

        assertThat(caller.result().get(1).outcome()).isInstanceOf(Outcome.InProgress.class);
        assertThat(caller.result().get(2).outcome()).isInstanceOf(Outcome.Executed.class);
    }

    @Test
    void otherItemUnderTheSameKeyIsAMismatch() {
        scope.batch(List.of("a"), item -> "same").fingerprint(String::getBytes).run((item, lease) -> new byte[0]);
        var results = scope.batch(List.of("b"), item -> "same")
                .fingerprint(String::getBytes)
                .run((item, lease) -> new byte[0]);

        assertThat(results.get(0).outcome()).isInstanceOf(Outcome.Mismatched.class);
    }

    @Test
    void interruptedCallerBeginsNoFurtherItem() {
        AtomicInteger begun = new AtomicInteger();
        Caller<List<Batch.Result<String, String>>> caller =
                Caller.start(() -> text(items(5)).concurrency(2).run((item, lease) -> {
                    begun.incrementAndGet();
                    gate.join();
                    return item;
                }));
        await().until(() -> begun.get() == 2);
        caller.untilItWaits().interrupt();
        await().until(() -> caller.waits());
        assertThat(caller.isDone()).as("those under way are waited for").isFalse();
        gate.complete(null);

        List<Batch.Result<String, String>> results = caller.result();
        assertThat(results.subList(0, 2)).allSatisfy(it -> executed(it.outcome()));
        assertThat(results.subList(2, 5))
                .allSatisfy(it -> assertThat(it.thrown()).isInstanceOf(CallInterruptedException.class));
        assertThat(caller.wasInterrupted()).isTrue();
        assertThat(begun).hasValue(2);
    }

    @Test
    void runAllDoesWhatHasNoResultOnce() {
        AtomicInteger runs = new AtomicInteger();
        scope.runAll(List.of(1, 2, 3), String::valueOf, (item, lease) -> runs.addAndGet(item));
        List<Batch.Result<Integer, Void>> again =
                scope.runAll(List.of(1, 2, 3), String::valueOf, (item, lease) -> runs.addAndGet(item));

        assertThat(runs).hasValue(6);
        assertThat(again).allSatisfy(it -> replayed(it.outcome()));
    }

    @Test
    void resultsMayHaveTypeParameters() {
        Batch<String, List<String>> batch =
                scope.batch(List.of("a"), item -> item).returning(new ResultType<List<String>>() {});
        batch.run((item, lease) -> List.of(item, item));

        assertThat(replayed(batch.run((item, lease) -> List.of()).get(0).outcome())
                        .value())
                .containsExactly("a", "a");
    }

    @Test
    void storeThatIsAwayFailsEveryItem() {
        world.store.cutOff(Op.values());

        assertThat(text(items(3)).run((item, lease) -> item))
                .allSatisfy(it -> assertThat(it.thrown()).isNotNull());
    }

    @Test
    void noItemsAreNoWork() {
        assertThat(text(List.of()).run((item, lease) -> item)).isEmpty();
        assertThat(world.store.calls()).isZero();
    }

    @Test
    void needsAtLeastOneAtATime() {
        assertThatIllegalArgumentException().isThrownBy(() -> text(items(1)).concurrency(0));
    }

    @Test
    void transactionIsRefused() {
        Scope within = hapax.transactional(new NoTransaction()).scope("payments");

        assertThatIllegalStateException().isThrownBy(() -> within.batch(items(1), item -> item));
        assertThatIllegalStateException().isThrownBy(() -> within.runAll(items(1), item -> item, (item, lease) -> {}));
    }

    private static final class NoTransaction implements StoreTransaction {
        @Override
        public Claim claim(ClaimRequest request) {
            throw new AssertionError("claimed");
        }

        @Override
        public void undo(UUID token) {}

        @Override
        public Written finish(Finish finish) {
            throw new AssertionError("finished");
        }
    }

    private Batch<String, String> text(List<String> items) {
        return scope.batch(items, item -> item).returning(String.class);
    }

    private static List<String> items(int count) {
        return IntStream.range(0, count).mapToObj(i -> "item-" + i).toList();
    }
}
