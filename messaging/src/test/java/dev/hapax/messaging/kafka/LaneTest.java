package dev.hapax.messaging.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.messaging.Disposition.Ack;
import dev.hapax.messaging.Disposition.RetryLater;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

class LaneTest {
    private static final RetryLater SOON = new RetryLater(Duration.ofSeconds(1), "soon");
    private static final RetryLater NOT_BEGUN = new RetryLater(Duration.ZERO, "lease lost");

    private final List<Long> begun = new ArrayList<>();
    private final List<Long> done = new ArrayList<>();
    private final List<Slot> askedByItself = new ArrayList<>();
    private long now;
    private final Lane lane = new Lane(askedByItself::addAll, Runnable::run, () -> now, done::add);

    @Test
    void theNextHandlerBeginsWhenTheOneBeforeHasReturnedNotWhenItIsStored() {
        List<Slot> slots = fetch(2);
        claim(slots.get(1));
        assertThat(begun).isEmpty();
        claim(slots.get(0));
        assertThat(begun).containsExactly(0L);
        slots.get(0).returned(true);
        assertThat(begun).containsExactly(0L, 1L);
        assertThat(done).isEmpty();
        lane.answered(slots.get(0), new Ack());
        assertThat(done).containsExactly(0L);
    }

    @Test
    void whatFailedIsNotOvertakenAndComesBackWhenItsTimeHasCome() {
        List<Slot> slots = fetch(2);
        slots.forEach(this::claim);
        slots.get(0).returned(false);
        lane.answered(slots.get(0), SOON);
        assertThat(begun).containsExactly(0L);
        assertThat(lane.isBlocked()).isTrue();
        assertThat(lane.due()).isEmpty();
        now += Duration.ofSeconds(1).toNanos();
        assertThat(lane.due()).containsExactly(slots.get(0));
    }

    @Test
    void aRepeatInTheMiddleIsAskedForAgainAsSoonAsItIsTheFirst() {
        List<Slot> slots = fetch(3);
        lane.answered(slots.get(1), SOON);
        claim(slots.get(0));
        claim(slots.get(2));
        slots.get(0).returned(true);
        assertThat(begun).containsExactly(0L);
        lane.answered(slots.get(0), new Ack());
        assertThat(askedByItself).containsExactly(slots.get(1));
        lane.answered(slots.get(1), new Ack());
        assertThat(begun).containsExactly(0L, 2L);
    }

    @Test
    void whatIsClaimedBehindOneThatIsStuckIsGivenBackAndAskedForWhenItIsNoLonger() {
        List<Slot> slots = fetch(3);
        claim(slots.get(1));
        for (int i = 0; i < 3; i++) {
            assertThat(slots.get(1).mayBegin()).isTrue();
            lane.answered(slots.get(0), SOON);
            now += Duration.ofSeconds(1).toNanos();
            assertThat(lane.due()).containsExactly(slots.get(0));
        }
        assertThat(slots.get(1).mayBegin()).isFalse();
        assertThatThrownBy(() -> claim(slots.get(2))).isInstanceOf(RejectedExecutionException.class);
        lane.answered(slots.get(1), NOT_BEGUN);
        lane.answered(slots.get(2), NOT_BEGUN);
        assertThat(lane.due()).isEmpty();
        lane.answered(slots.get(0), new Ack());
        assertThat(lane.due()).containsExactly(slots.get(1), slots.get(2));
        assertThat(slots.get(1).mayBegin()).isTrue();
    }

    @Test
    void leasesThatCouldNotBeHeldAreFewerTheNextTime() {
        List<Slot> slots = fetch(1000);
        slots.subList(1, 1000).forEach(this::claim);
        lane.answered(slots.get(0), NOT_BEGUN);
        slots.subList(1, 1000).forEach(slot -> lane.answered(slot, NOT_BEGUN));
        assertThat(askedByItself).containsExactly(slots.get(0));
        assertThat(lane.due()).isEmpty();
        lane.answered(slots.get(0), new Ack());
        assertThat(lane.due()).hasSize(501);
    }

    @Test
    void aClosedLaneBeginsNothingAndAsksForNothing() {
        List<Slot> slots = fetch(3);
        claim(slots.get(1));
        lane.close();
        assertThatThrownBy(() -> claim(slots.get(0))).isInstanceOf(RejectedExecutionException.class);
        lane.answered(slots.get(0), NOT_BEGUN);
        lane.answered(slots.get(1), NOT_BEGUN);
        lane.answered(slots.get(2), SOON);
        assertThat(lane.due()).isEmpty();
        assertThat(lane.open()).isZero();
        assertThat(begun).isEmpty();
        assertThat(askedByItself).isEmpty();
    }

    private List<Slot> fetch(int count) {
        for (int i = 0; i < count; i++) {
            lane.add(new ConsumerRecord<>("t", 0, i, null, null));
        }
        return lane.due();
    }

    private void claim(Slot slot) {
        slot.execute(() -> {
            if (slot.mayBegin()) {
                begun.add(slot.record.offset());
            }
        });
    }
}
