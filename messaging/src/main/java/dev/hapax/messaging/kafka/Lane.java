package dev.hapax.messaging.kafka;

import dev.hapax.messaging.Disposition;
import dev.hapax.messaging.Disposition.RetryLater;
import dev.hapax.messaging.kafka.Slot.State;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Records that are handled one at a time, in order. Safe for use by many threads.
 *
 * <p>They are claimed ahead, together with those of other lanes; each then waits for its turn with its claim in hand.
 * How many are is learned: claims whose leases could not be held until their turn came were too many. The next handler
 * begins when the one before has returned, not when its end has been stored: so ends are stored together, as claims
 * are.
 *
 * <p>What has to come back blocks the lane. The first one waits for its time, and those behind it wait for it. If it
 * has to come back again and again, what is claimed behind it is given back: two consumers that each hold what the
 * other one needs first would wait for ever. If it lost its lease while it waited for its turn, those behind it are
 * given back too. What was given back is asked for again once the first one is done with, not sooner: every claim
 * counts as an attempt. What comes back from the middle of the lane (usually a repeat of a record further in front) is
 * asked for again when it is the first, at once: things have changed by then.
 */
final class Lane {
    private static final int PATIENCE = 3;
    private static final int MOST_AHEAD = 1000;
    private static final Duration SHORTEST_DELAY = Duration.ofMillis(20);

    private final Asking asking;
    private final Executor threads;
    private final LongSupplier clock;
    private final LongConsumer done;
    private final Deque<Slot> slots = new ArrayDeque<>();
    private boolean draining;
    private boolean closed;
    private int comebacks;
    private int ahead = MOST_AHEAD;

    /** Asks the engine for all of these together; every one of them is then answered with {@link Lane#answered}. */
    interface Asking {
        void ask(List<Slot> slots);
    }

    /** @param done told the offset of every record that is done with; must not block */
    Lane(Asking asking, Executor threads, LongSupplier clock, LongConsumer done) {
        this.asking = asking;
        this.threads = threads;
        this.clock = clock;
        this.done = done;
    }

    synchronized void add(ConsumerRecord<byte[], byte[]> record) {
        slots.add(new Slot(record, this));
    }

    synchronized boolean isEmpty() {
        return slots.isEmpty();
    }

    /** Whether the first one has to come back, so that more records would only wait. */
    synchronized boolean isBlocked() {
        Slot first = slots.peek();
        return first != null && first.state == State.WAITING;
    }

    /** How many answers the engine owes. */
    synchronized int open() {
        return (int) slots.stream().filter(slot -> slot.state.isOpen()).count();
    }

    /** What is to be asked for now; counts as asked. */
    synchronized List<Slot> due() {
        if (closed) {
            return List.of();
        }
        Slot first = slots.peek();
        if (first != null && first.state == State.WAITING) {
            return first.notBefore - clock.getAsLong() <= 0 ? asked(List.of(first)) : List.of();
        }
        List<Slot> due = firstAgain();
        if (comebacks > 0) {
            return asked(due);
        }
        int room = ahead - count(State.ASKED) - count(State.READY);
        for (Slot slot : slots) {
            if (slot.state == State.FRESH && room-- > 0) {
                due.add(slot);
            }
        }
        return asked(due);
    }

    private int count(State state) {
        return (int) slots.stream().filter(slot -> slot.state == state).count();
    }

    private List<Slot> firstAgain() {
        List<Slot> again = new ArrayList<>();
        for (Slot slot : slots) {
            if (slot.state == State.AGAIN) {
                again.add(slot);
            } else if (slot.state != State.SETTLED) {
                break;
            }
        }
        return again;
    }

    private static List<Slot> asked(List<Slot> due) {
        due.forEach(slot -> slot.state = State.ASKED);
        return due;
    }

    /** @throws RejectedExecutionException when the claim is to be given back */
    void claimed(Slot slot, Runnable handler) {
        synchronized (this) {
            if (closed || slot.refused) {
                throw new RejectedExecutionException("the record is no longer wanted here");
            }
            slot.task = handler;
            slot.state = State.READY;
        }
        begin();
    }

    synchronized boolean mayBegin(Slot slot) {
        return !closed && !slot.refused;
    }

    void returned(Slot slot, boolean forGood) {
        synchronized (this) {
            slot.state = forGood ? State.RETURNED : State.FAILED;
        }
        begin();
    }

    /** Begins the handler whose turn it is. Where no thread can be had now, the next call tries again. */
    void begin() {
        synchronized (this) {
            if (draining || next() == null) {
                return;
            }
            draining = true;
        }
        try {
            threads.execute(this::drain);
        } catch (RejectedExecutionException busy) {
            synchronized (this) {
                draining = false;
            }
        }
    }

    private void drain() {
        Runnable task;
        while ((task = take()) != null) {
            task.run();
        }
    }

    private synchronized @Nullable Runnable take() {
        Slot slot = next();
        if (slot == null) {
            draining = false;
            return null;
        }
        slot.state = State.RUNNING;
        return takeTask(slot);
    }

    private @Nullable Slot next() {
        for (Slot slot : slots) {
            if (slot.state == State.READY) {
                return slot.refused ? null : slot;
            }
            if (slot.state != State.SETTLED && slot.state != State.RETURNED) {
                return null;
            }
        }
        return null;
    }

    private static @Nullable Runnable takeTask(Slot slot) {
        Runnable task = slot.task;
        slot.task = null;
        return task;
    }

    /** The engine has answered, and what it said has been carried out. */
    void answered(Slot slot, Disposition disposition) {
        List<Slot> again;
        List<Runnable> givenBack = List.of();
        synchronized (this) {
            if (disposition instanceof RetryLater later) {
                givenBack = comeBack(slot, later);
            } else {
                settle(slot);
            }
            again = closed ? List.of() : asked(firstAgain());
        }
        givenBack.forEach(Runnable::run);
        if (!again.isEmpty()) {
            asking.ask(again);
        }
        begin();
    }

    private void settle(Slot slot) {
        slot.state = State.SETTLED;
        done.accept(slot.record.offset());
        ahead = Math.min(ahead + 1, MOST_AHEAD);
        if (slots.peek() == slot) {
            comebacks = 0;
        }
        while (!slots.isEmpty() && slots.peek().state == State.SETTLED) {
            slots.remove();
        }
    }

    private List<Runnable> comeBack(Slot slot, RetryLater later) {
        if (slot.refused) {
            slot.refused = false;
            slot.state = State.FRESH;
            return List.of();
        }
        if (slots.peek() != slot) {
            slot.state = State.AGAIN;
            return List.of();
        }
        comebacks++;
        if (later.delay().isZero() && comebacks < PATIENCE) {
            slot.state = State.AGAIN;
            ahead = Math.max(ahead / 2, 1);
            return giveBack();
        }
        Duration delay = later.delay().compareTo(SHORTEST_DELAY) < 0 ? SHORTEST_DELAY : later.delay();
        slot.state = State.WAITING;
        slot.notBefore = clock.getAsLong() + delay.toNanos();
        return comebacks < PATIENCE ? List.of() : giveBack();
    }

    /** What has not begun lets go of its claim. The handlers returned here do so when run: they may not begin. */
    private List<Runnable> giveBack() {
        List<Runnable> tasks = new ArrayList<>();
        for (Slot slot : slots) {
            if (slot.state == State.ASKED || slot.state == State.READY) {
                slot.refused = true;
            }
            Runnable task = takeTask(slot);
            if (task != null) {
                tasks.add(task);
            }
        }
        return tasks;
    }

    /** Nothing begins any more; what has not begun is given back, what runs goes on. */
    void close() {
        List<Runnable> givenBack;
        synchronized (this) {
            closed = true;
            givenBack = giveBack();
        }
        givenBack.forEach(Runnable::run);
    }
}
