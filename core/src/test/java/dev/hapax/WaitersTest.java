package dev.hapax;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.memory.MemoryStore;
import dev.hapax.store.Snapshot;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class WaitersTest {
    private static final Duration WAIT = Duration.ofSeconds(5);
    private final ManualScheduler scheduler = new ManualScheduler();
    private final MemoryStore memory = new MemoryStore(scheduler);
    private final FaultyStore store = new FaultyStore(memory);
    private final Waiters waiters = new Waiters(store, scheduler, 1);

    @Test
    void timedOutWaiterForThisProcessLeavesNothingBehind() {
        WaitList<String> list = new WaitList<>();
        assertThat(waiters.mayWait()).isTrue();
        CompletableFuture<String> waiter = waiters.waitFor(list, WAIT.toNanos(), "too late");
        assertThat(list.size()).isEqualTo(1);
        scheduler.advance(WAIT);

        assertThat(waiter).isCompletedWithValue("too late");
        assertThat(list.size()).isZero();
        assertThat(waiters.mayWait()).as("its place is free").isTrue();
    }

    @Test
    void timedOutWaiterForAnotherProcessLeavesNothingBehind() {
        store.delayAnswers(FaultyStore.Op.FIND);
        assertThat(waiters.mayWait()).isTrue();
        CompletableFuture<Optional<Snapshot>> waiter = waiters.waitForChange(World.KEY.id(), WAIT.toNanos());
        assertThat(waiters.awaitedOperations()).isEqualTo(1);
        scheduler.advance(WAIT);

        assertThat(waiter).isCompletedWithValue(Optional.empty());
        assertThat(waiters.awaitedOperations()).isZero();
        assertThat(waiters.mayWait()).as("its place is free").isTrue();
    }

    @Test
    void oneThatTimesOutDoesNotEndTheWaitOfOthers() {
        CompletableFuture<Void> found = store.delayAnswers(FaultyStore.Op.FIND);
        CompletableFuture<Optional<Snapshot>> hasty = waiters.waitForChange(World.KEY.id(), WAIT.toNanos());
        CompletableFuture<Optional<Snapshot>> patient =
                waiters.waitForChange(World.KEY.id(), WAIT.multipliedBy(2).toNanos());
        scheduler.advance(WAIT);
        assertThat(hasty).isDone();
        assertThat(patient).isNotDone();
        found.complete(null);

        assertThat(patient).isDone();
        assertThat(waiters.awaitedOperations()).isZero();
    }

    @Test
    void waiterThatWasServedLeavesNoTimerBehind() {
        WaitList<String> list = new WaitList<>();
        CompletableFuture<String> waiter = waiters.waitFor(list, WAIT.toNanos(), "too late");
        list.complete("in time");

        assertThat(waiter).isCompletedWithValue("in time");
        assertThat(scheduler.timers()).isZero();
        assertThat(list.join()).as("who comes later").isCompletedWithValue("in time");
    }
}
