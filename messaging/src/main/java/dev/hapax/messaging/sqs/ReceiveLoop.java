package dev.hapax.messaging.sqs;

import dev.hapax.messaging.Backoff;
import dev.hapax.messaging.Delivery;
import dev.hapax.messaging.Disposition;
import dev.hapax.messaging.Disposition.Reject;
import dev.hapax.messaging.Disposition.RetryLater;
import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.messaging.Turn;
import dev.hapax.messaging.internal.ActionQueue;
import dev.hapax.messaging.internal.HandlerThreads;
import dev.hapax.messaging.internal.LoopThread;
import dev.hapax.messaging.sqs.ReceivedMessage.State;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the thread of a {@link SqsConsumerLoop} runs. It owns the state of all messages; SQS and the engine answer on
 * threads of their own and leave an action in a queue.
 *
 * <p>Each pass receives while there is room, gives the engine what has arrived and is due, all of it together (of a
 * FIFO group the first message only), and keeps hidden what it has.
 *
 * <p>SQS counts every receive, and a redrive policy moves a message away after so many. The only receive that is worth
 * counting is one whose handler failed. So a message that waits for anything else (the store, another delivery that is
 * being handled, a decision about an operation in doubt) is held here and kept hidden, which SQS does not count; it
 * takes up room, so that little more is received meanwhile.
 */
final class ReceiveLoop implements LoopThread.Loop {
    private static final Logger log = LoggerFactory.getLogger(ReceiveLoop.class);
    private static final Backoff REJECT_AGAIN = new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(1));
    private static final Duration MIN_DELAY = Duration.ofMillis(20);
    private static final Duration PAUSE = Duration.ofSeconds(2);
    private static final Duration LONGEST_HOLD = Duration.ofHours(11); // SQS hides a message for 12 at most
    private static final Duration MAX_WAIT = Duration.ofMinutes(1);

    private final IdempotentConsumer<SqsMessage> consumer;
    private final DeadLetters deadLetters;
    private final Requests requests;
    private final HandlerThreads handlers;
    private final QueueReceiver receiver;
    private final VisibilityKeeper hidden;
    private final ActionQueue actions = new ActionQueue();
    private final InFlightMessages inFlight = new InFlightMessages();
    private final int maxInFlight;
    private final boolean fifo;
    private final Duration visibility;
    private final Duration handOver;
    private volatile boolean stopping;

    ReceiveLoop(SqsConsumerLoop.Builder settings, String name) {
        this.consumer = settings.consumer;
        this.deadLetters = Objects.requireNonNull(settings.deadLetters, "deadLetters");
        this.requests = new Requests(settings);
        this.handlers = new HandlerThreads(settings.loop, name);
        this.receiver = new QueueReceiver(requests, actions, this::arrived);
        this.maxInFlight = settings.maxInFlight;
        this.fifo = Requests.isFifo(settings.queueUrl);
        this.visibility = settings.visibility;
        this.handOver = settings.loop.handOver();
        this.hidden = new VisibilityKeeper(requests, visibility);
    }

    boolean isConsuming() {
        return !stopping && receiver.isAnswered();
    }

    @Override
    public void stop() {
        stopping = true;
        actions.wake();
    }

    @Override
    public void run() throws InterruptedException {
        try {
            while (!stopping) {
                receiver.receive(maxInFlight - inFlight.size());
                consume(inFlight.due(System.nanoTime()));
                hidden.keepHidden(inFlight.all(), System.nanoTime());
                requests.flush();
                actions.runPending(nextEvent());
            }
            handOver();
        } finally {
            receiver.releaseLateMessages();
            handlers.close();
        }
    }

    private long nextEvent() {
        long latest = System.nanoTime() + MAX_WAIT.toNanos();
        long next = inFlight.nextDue(receiver.nextRequest(latest));
        return inFlight.size() == 0 ? next : Math.min(next, hidden.nextPass());
    }

    private void arrived(SqsMessage message) {
        long now = System.nanoTime();
        String group = fifo ? Objects.requireNonNullElse(message.groupId(), "") : null;
        inFlight.add(new ReceivedMessage(message, group, now, visibility));
    }

    private void consume(List<ReceivedMessage> due) {
        if (due.isEmpty()) {
            return;
        }
        due.forEach(it -> it.state = State.PROCESSING);
        List<CompletionStage<Disposition>> dispositions = consumer.consumeAll(due.stream()
                .map(it -> new Delivery<>(it.message, handlers, turn()))
                .toList());
        for (int i = 0; i < due.size(); i++) {
            ReceivedMessage it = due.get(i);
            dispositions
                    .get(i)
                    .whenComplete((disposition, error) -> actions.submit(() -> apply(it, disposition, error)));
        }
    }

    /** No handler begins once the loop stops. */
    private Turn turn() {
        return new Turn() {
            @Override
            public boolean mayBegin() {
                return !stopping;
            }
        };
    }

    private void apply(ReceivedMessage it, @Nullable Disposition disposition, @Nullable Throwable error) {
        if (disposition == null) {
            log.error("{} could not be handled", it.message, error);
            retryLater(it, new RetryLater(PAUSE, String.valueOf(error)));
        } else if (disposition instanceof RetryLater later) {
            retryLater(it, later);
        } else if (disposition instanceof Reject reject) {
            deadLetter(it, reject);
        } else {
            delete(it);
        }
    }

    /** Its end is stored, so the next message of its group may begin, even if SQS has not answered yet. */
    private void delete(ReceivedMessage it) {
        it.state = State.SETTLING;
        inFlight.leaveGroup(it);
        requests.delete(it.message).thenAccept(deleted -> actions.submit(() -> inFlight.remove(it)));
    }

    /**
     * In a FIFO queue a message whose handler failed is held, too: those behind it would be received again with it, and
     * a redrive policy could take them before their turn.
     */
    private void retryLater(ReceivedMessage it, RetryLater later) {
        log.debug("{} is retried later: {}", it.message, later.reason());
        boolean held = fifo || !later.handlerFailed();
        Duration longest = LONGEST_HOLD.minusNanos(System.nanoTime() - it.receivedAt);
        if (stopping) {
            hold(it, Duration.ZERO);
        } else if (held && later.delay().compareTo(longest) < 0) {
            hold(it, later.delay());
        } else {
            release(it, shorter(later.delay(), longest));
        }
    }

    /** SQS refuses to hide a message for longer than is left, and would show it much earlier. */
    private static Duration shorter(Duration delay, Duration longest) {
        Duration left = longest.isNegative() ? Duration.ZERO : longest;
        return delay.compareTo(left) < 0 ? delay : left;
    }

    private static void hold(ReceivedMessage it, Duration delay) {
        Duration pause = delay.compareTo(MIN_DELAY) < 0 ? MIN_DELAY : delay;
        it.notBefore = System.nanoTime() + pause.toNanos();
        it.state = State.WAITING;
    }

    /** Leaves it to SQS, and those of its group that wait behind it: they must not come before it. */
    private void release(ReceivedMessage it, Duration delay) {
        for (ReceivedMessage one : inFlight.groupOf(it)) {
            hidden.show(one, delay);
            inFlight.remove(one);
        }
    }

    /** Deletes the message only after SQS has confirmed its dead letter. */
    private void deadLetter(ReceivedMessage it, Reject reject) {
        log.warn("Consumer {} rejects {}: {}", consumer.name(), it.message, reject.reason());
        String url = deadLetters.queueUrl();
        if (url == null) {
            release(it, REJECT_AGAIN.after(it.message.receiveCount()));
            return;
        }
        it.state = State.SETTLING;
        requests.sendDeadLetter(url, it.message, consumer.name(), reject)
                .whenComplete((sent, error) -> actions.submit(() -> {
                    if (error == null) {
                        delete(it);
                    } else {
                        log.warn("{} could not be dead-lettered, and is kept: {}", it.message, error.toString());
                        hold(it, PAUSE);
                    }
                }));
    }

    /**
     * Shows messages that have not begun to others at once, and waits for handlers that run, so that their messages are
     * deleted. It also waits for a receive that is under way: what SQS gave to a process that has exited stays hidden
     * from everybody for the visibility time.
     */
    private void handOver() throws InterruptedException {
        long until = System.nanoTime() + handOver.toNanos();
        actions.runPending(System.nanoTime());
        showWaitingIfIdle();
        while (!(inFlight.size() == 0 && receiver.isIdle()) && until - System.nanoTime() > 0) {
            hidden.keepHidden(inFlight.all(), System.nanoTime());
            requests.flush();
            actions.runPending(Math.min(until, hidden.nextPass()));
            showWaitingIfIdle();
        }
        long running = inFlight.all().stream()
                .filter(it -> it.state == State.PROCESSING)
                .count();
        if (running > 0) {
            log.warn("Consumer {} stops while {} messages are being handled", consumer.name(), running);
        }
        showWaiting();
        requests.flush();
    }

    /** A receive that is under way would bring them back, and SQS would count that. */
    private void showWaitingIfIdle() {
        if (receiver.isIdle()) {
            showWaiting();
        }
    }

    private void showWaiting() {
        for (ReceivedMessage it : inFlight.all()) {
            if (it.state == State.WAITING) {
                it.state = State.SETTLING;
                hidden.show(it, Duration.ZERO).thenAccept(shown -> actions.submit(() -> inFlight.remove(it)));
            }
        }
    }
}
