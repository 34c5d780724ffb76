package dev.hapax.messaging.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

class OrderedQueueTest {
    private static final Duration SOON = Duration.ofSeconds(1);
    private static final Duration AT_ONCE = Duration.ZERO;

    private final List<Long> begun = new ArrayList<>();
    private final List<Long> settled = new ArrayList<>();
    private final List<PendingRecord> resubmitted = new ArrayList<>();
    private final Deque<Runnable> executor = new ArrayDeque<>();
    private long now;
    private final OrderedQueue queue = new OrderedQueue(resubmitted::addAll, Runnable::run, () -> now, settled::add);

    @Test
    void nextHandlerBeginsWhenTheOneBeforeReturned() {
        List<PendingRecord> records = fetch(2);
        claim(records.get(1));
        assertThat(begun).isEmpty();
        claim(records.get(0));
        assertThat(begun).containsExactly(0L);
        queue.returned(records.get(0), true);
        assertThat(begun).containsExactly(0L, 1L);
        assertThat(settled).isEmpty();
        queue.settle(records.get(0));
        assertThat(settled).containsExactly(0L);
    }

    @Test
    void failedRecordIsNotOvertakenAndRetriedAfterItsDelay() {
        List<PendingRecord> records = fetch(2);
        records.forEach(this::claim);
        queue.returned(records.get(0), false);
        queue.retryLater(records.get(0), SOON);
        assertThat(begun).containsExactly(0L);
        assertThat(queue.isBlocked()).isTrue();
        assertThat(queue.takeSubmittable()).isEmpty();
        now += Duration.ofSeconds(1).toNanos();
        assertThat(queue.takeSubmittable()).containsExactly(records.get(0));
    }

    @Test
    void repeatIsResubmittedAsSoonAsItIsTheFirst() {
        List<PendingRecord> records = fetch(3);
        queue.retryLater(records.get(1), SOON);
        claim(records.get(0));
        claim(records.get(2));
        queue.returned(records.get(0), true);
        assertThat(begun).containsExactly(0L);
        queue.settle(records.get(0));
        assertThat(resubmitted).containsExactly(records.get(1));
        queue.settle(records.get(1));
        assertThat(begun).containsExactly(0L, 2L);
    }

    @Test
    void failedRecordBehindAnotherKeepsItsDelay() {
        List<PendingRecord> records = fetch(2);
        records.forEach(this::claim);
        queue.returned(records.get(0), true);
        queue.returned(records.get(1), false);
        queue.retryLater(records.get(1), SOON);
        queue.settle(records.get(0));
        assertThat(queue.isBlocked()).isTrue();
        assertThat(queue.takeSubmittable()).isEmpty();
        assertThat(resubmitted).isEmpty();
        now += SOON.toNanos();
        assertThat(queue.takeSubmittable()).containsExactly(records.get(1));
    }

    /** The thread that reports a disposition belongs to the engine, and submitting calls functions of the user. */
    @Test
    void recordIsResubmittedOnTheExecutor() {
        OrderedQueue shared = new OrderedQueue(resubmitted::addAll, executor::add, () -> now, settled::add);
        List<PendingRecord> records = fetch(shared, 2);
        shared.retryLater(records.get(1), SOON);
        shared.settle(records.get(0));
        assertThat(resubmitted).isEmpty();
        executor.remove().run();
        assertThat(resubmitted).containsExactly(records.get(1));
        assertThat(shared.takeSubmittable()).isEmpty();
    }

    @Test
    void executorThatFailsIsTriedAgain() {
        AtomicBoolean failing = new AtomicBoolean(true);
        OrderedQueue shared = new OrderedQueue(
                resubmitted::addAll,
                task -> {
                    if (failing.get()) {
                        throw new InternalError("no thread");
                    }
                    task.run();
                },
                () -> now,
                settled::add);
        PendingRecord record = fetch(shared, 1).get(0);
        shared.claimed(record, () -> begun.add(0L));
        assertThat(begun).isEmpty();
        failing.set(false);
        shared.schedule();
        assertThat(begun).containsExactly(0L);
    }

    @Test
    void settledRecordsBehindTheFirstTakeNoRoom() {
        List<PendingRecord> records = fetch(100);
        records.subList(1, 100).forEach(queue::settle);
        assertThat(queue.size()).isEqualTo(1);
        assertThat(settled).hasSize(99);
    }

    @Test
    void claimThatIsNoLongerAwaitedIsReleased() {
        PendingRecord record = fetch(1).get(0);
        queue.retryLater(record, SOON);
        assertThatThrownBy(() -> claim(record)).isInstanceOf(RejectedExecutionException.class);
        assertThat(begun).isEmpty();
    }

    @Test
    void claimsBehindAStuckRecordAreReleased() {
        List<PendingRecord> records = fetch(3);
        claim(records.get(1));
        for (int i = 0; i < 3; i++) {
            assertThat(queue.mayBegin(records.get(1))).isTrue();
            queue.retryLater(records.get(0), SOON);
            now += Duration.ofSeconds(1).toNanos();
            assertThat(queue.takeSubmittable()).containsExactly(records.get(0));
        }
        assertThat(queue.mayBegin(records.get(1))).isFalse();
        assertThatThrownBy(() -> claim(records.get(2))).isInstanceOf(RejectedExecutionException.class);
        queue.retryLater(records.get(1), AT_ONCE);
        queue.retryLater(records.get(2), AT_ONCE);
        assertThat(queue.takeSubmittable()).isEmpty();
        queue.settle(records.get(0));
        assertThat(queue.takeSubmittable()).containsExactly(records.get(1), records.get(2));
        assertThat(queue.mayBegin(records.get(1))).isTrue();
    }

    @Test
    void lostLeaseHalvesTheClaimsAhead() {
        List<PendingRecord> records = fetch(1000);
        records.subList(1, 1000).forEach(this::claim);
        queue.retryLater(records.get(0), AT_ONCE);
        records.subList(1, 1000).forEach(it -> queue.retryLater(it, AT_ONCE));
        assertThat(resubmitted).containsExactly(records.get(0));
        assertThat(queue.takeSubmittable()).isEmpty();
        queue.settle(records.get(0));
        assertThat(queue.takeSubmittable()).hasSize(501);
    }

    @Test
    void closedQueueBeginsAndSubmitsNothing() {
        List<PendingRecord> records = fetch(3);
        claim(records.get(1));
        queue.close();
        assertThatThrownBy(() -> claim(records.get(0))).isInstanceOf(RejectedExecutionException.class);
        queue.retryLater(records.get(0), AT_ONCE);
        queue.retryLater(records.get(1), AT_ONCE);
        queue.retryLater(records.get(2), SOON);
        assertThat(queue.takeSubmittable()).isEmpty();
        assertThat(queue.inEngine()).isZero();
        assertThat(begun).isEmpty();
        assertThat(resubmitted).isEmpty();
    }

    @Test
    void slowHandlerSendsItsQueueToTheBackOfTheExecutor() {
        fetchAndClaim(3, () -> now += Duration.ofMillis(1).toNanos());
        executor.remove().run();
        assertThat(begun).containsExactly(0L);
        assertThat(executor).hasSize(1);
        executor.remove().run();
        assertThat(begun).containsExactly(0L, 1L);
    }

    @Test
    void quickHandlersShareASliceOfEight() {
        fetchAndClaim(20, () -> {});
        executor.remove().run();
        assertThat(begun).hasSize(8);
        assertThat(executor).hasSize(1);
        executor.remove().run();
        executor.remove().run();
        assertThat(begun).hasSize(20).isSorted();
        assertThat(executor).isEmpty();
    }

    /** In a queue whose handlers wait for {@link #executor}. */
    private void fetchAndClaim(int count, Runnable handler) {
        OrderedQueue shared = new OrderedQueue(resubmitted::addAll, executor::add, () -> now, settled::add);
        fetch(shared, count)
                .forEach(it -> shared.claimed(it, () -> {
                    begun.add(it.record.offset());
                    handler.run();
                    shared.returned(it, true);
                }));
    }

    private List<PendingRecord> fetch(int count) {
        return fetch(queue, count);
    }

    private static List<PendingRecord> fetch(OrderedQueue queue, int count) {
        for (int i = 0; i < count; i++) {
            queue.add(new ConsumerRecord<>("t", 0, i, null, null));
        }
        return queue.takeSubmittable();
    }

    private void claim(PendingRecord pending) {
        queue.claimed(pending, () -> {
            if (queue.mayBegin(pending)) {
                begun.add(pending.record.offset());
            }
        });
    }
}
