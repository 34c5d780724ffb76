package dev.hapax.messaging.rabbit;

import com.rabbitmq.client.AMQP.BasicProperties;
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
import dev.hapax.messaging.rabbit.ConfirmedSender.Letter;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the thread of a {@link RabbitConsumerLoop} runs. It owns the state of all deliveries and is the only one that
 * acknowledges; the client, the engine and the publisher answer on threads of their own and leave an action in a queue.
 * So a broker that reads slowly makes this thread wait, and no other.
 *
 * <p>Each pass keeps the subscription alive and gives the engine the deliveries that are new or due, all of them
 * together.
 */
final class DeliveryLoop implements LoopThread.Loop, Subscription.Events {
    private static final Logger log = LoggerFactory.getLogger(DeliveryLoop.class);
    private static final Backoff RECONNECT = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(15));
    private static final Duration MIN_DELAY = Duration.ofMillis(20);
    private static final Duration PAUSE = Duration.ofSeconds(2);
    private static final Duration CONFIRM_TIMEOUT = Duration.ofSeconds(30);
    private static final Duration MAX_WAIT = Duration.ofMinutes(1);

    private final IdempotentConsumer<RabbitMessage> consumer;
    private final RabbitConnections connections;
    private final String queue;
    private final int prefetch;
    private final Duration longestHold;
    private final @Nullable String delayQueue;
    private final Duration handOver;
    private final DeadLetters deadLetters;
    private final HandlerThreads handlers;
    private final ConfirmedSender sender;
    private final ActionQueue actions = new ActionQueue();
    private final PriorityQueue<UnackedDelivery> held = new PriorityQueue<>(Comparator.comparingLong(it -> it.wakeAt));
    private int unsettled;
    private int failedConnects;
    private long connectAt = System.nanoTime();
    private volatile @Nullable Subscription subscription;
    private volatile boolean stopping;

    DeliveryLoop(RabbitConsumerLoop.Builder settings, String name) {
        this.consumer = settings.consumer;
        this.connections = settings.connections;
        this.queue = settings.queue;
        this.prefetch = settings.prefetch;
        this.longestHold = settings.longestHold;
        this.delayQueue = settings.delayQueue;
        this.handOver = settings.loop.handOver();
        this.deadLetters = Objects.requireNonNull(settings.deadLetters, "deadLetters");
        this.handlers = new HandlerThreads(settings.loop, name);
        this.sender = new ConfirmedSender(connections, CONFIRM_TIMEOUT);
    }

    boolean isConsuming() {
        Subscription now = subscription;
        return !stopping && now != null && now.ended() == null;
    }

    @Override
    public void stop() {
        stopping = true;
        actions.wake();
    }

    @Override
    public void delivered(UnackedDelivery delivery) {
        actions.submit(() -> held.add(delivery));
    }

    @Override
    public void ended(Subscription which) {
        actions.wake();
    }

    @Override
    public void run() throws InterruptedException {
        try {
            while (!stopping) {
                keepSubscribed();
                proceed(due());
                actions.runPending(nextEvent());
            }
            handOver();
        } finally {
            unsubscribe();
            sender.close();
            handlers.close();
        }
    }

    private void keepSubscribed() {
        Subscription now = subscription;
        if (now != null && now.ended() == null) {
            return;
        }
        if (now != null) {
            log.warn("Consumer {} lost its subscription: {}", consumer.name(), now.ended());
            unsubscribe();
            connectAt = System.nanoTime() + RECONNECT.after(1).toNanos();
        }
        if (connectAt - System.nanoTime() <= 0) {
            subscribe();
        }
    }

    private void subscribe() {
        try {
            subscription = Subscription.begin(connections, queue, prefetch, this);
            failedConnects = 0;
            log.info("Consumer {} consumes queue {}", consumer.name(), queue);
        } catch (IOException | TimeoutException | RuntimeException failed) {
            failedConnects++;
            Duration pause = RECONNECT.after(failedConnects);
            connectAt = System.nanoTime() + pause.toNanos();
            log.warn(
                    "Consumer {} cannot consume queue {}, tries again in {} ms: {}",
                    consumer.name(),
                    queue,
                    pause.toMillis(),
                    describe(failed));
        }
    }

    /** The broker delivers again what was held on a subscription that has ended. */
    private void unsubscribe() {
        Subscription now = subscription;
        subscription = null;
        if (now != null) {
            now.close();
        }
        held.removeIf(UnackedDelivery::isStale);
    }

    private long nextEvent() {
        long next = System.nanoTime() + MAX_WAIT.toNanos();
        if (!held.isEmpty()) {
            next = Math.min(next, held.peek().wakeAt);
        }
        Subscription now = subscription;
        return now == null || now.ended() != null ? Math.min(next, connectAt) : next;
    }

    private List<UnackedDelivery> due() {
        List<UnackedDelivery> due = new ArrayList<>();
        long now = System.nanoTime();
        while (!held.isEmpty() && held.peek().wakeAt - now <= 0) {
            due.add(held.remove());
        }
        due.removeIf(UnackedDelivery::isStale);
        return due;
    }

    private void proceed(List<UnackedDelivery> due) {
        long now = System.nanoTime();
        List<UnackedDelivery> asked = new ArrayList<>();
        for (UnackedDelivery it : due) {
            if (it.requeued) {
                it.subscription.requeue(it.tag);
            } else if (delayQueue != null && it.notBefore - now > 0) {
                unsettled++;
                publishDelayed(it, delayQueue);
            } else {
                asked.add(it);
            }
        }
        consume(asked);
    }

    private void consume(List<UnackedDelivery> due) {
        if (due.isEmpty()) {
            return;
        }
        unsettled += due.size();
        List<CompletionStage<Disposition>> dispositions = consumer.consumeAll(due.stream()
                .map(it -> new Delivery<>(it.message, handlers, turn(it)))
                .toList());
        for (int i = 0; i < due.size(); i++) {
            UnackedDelivery it = due.get(i);
            dispositions
                    .get(i)
                    .whenComplete((disposition, error) -> actions.submit(() -> apply(it, disposition, error)));
        }
    }

    /** No handler begins once the loop stops, or once the broker will deliver the message to another consumer. */
    private Turn turn(UnackedDelivery it) {
        return new Turn() {
            @Override
            public boolean mayBegin() {
                return !stopping && !it.isStale();
            }
        };
    }

    private void apply(UnackedDelivery it, @Nullable Disposition disposition, @Nullable Throwable error) {
        if (it.isStale()) { // the broker delivers it again; a dead letter or a delayed copy would be a second message
            log.debug("{} was delivered on a channel that is gone: {}", it.message, disposition);
            unsettled--;
        } else if (disposition == null) {
            log.error("{} could not be handled", it.message, error);
            retryLater(it, new RetryLater(PAUSE, String.valueOf(error)));
        } else if (disposition instanceof RetryLater later) {
            retryLater(it, later);
        } else if (disposition instanceof Reject reject) {
            deadLetter(it, reject);
        } else {
            it.subscription.acknowledge(it.tag);
            unsettled--;
        }
    }

    /** Holds it as long as it may be held; if that is not long enough, the broker takes over. */
    private void retryLater(UnackedDelivery it, RetryLater later) {
        log.debug("{} is retried later: {}", it.message, later.reason());
        Duration delay = later.delay().compareTo(MIN_DELAY) < 0 ? MIN_DELAY : later.delay();
        long now = System.nanoTime();
        long heldUntil = it.receivedAt + longestHold.toNanos();
        it.notBefore = now + delay.toNanos();
        boolean tooLong = it.notBefore - heldUntil > 0;
        if (tooLong && delayQueue != null) {
            publishDelayed(it, delayQueue);
            return;
        }
        it.requeued = tooLong;
        hold(it, tooLong ? Math.max(heldUntil, now + MIN_DELAY.toNanos()) : it.notBefore);
    }

    private void hold(UnackedDelivery it, long wakeAt) {
        it.wakeAt = wakeAt;
        held.add(it);
        unsettled--;
    }

    /** If the broker does not take it, it is published again after a pause, with the delay that is left. */
    private void publishDelayed(UnackedDelivery it, String to) {
        Duration delay = Duration.ofNanos(it.notBefore - System.nanoTime());
        Letter letter = new Letter("", to, DeadLetters.delayed(it.message, delay), it.message.body());
        acknowledgeAfter(sender.send(letter), it, "delayed");
    }

    private void deadLetter(UnackedDelivery it, Reject reject) {
        log.warn("Consumer {} rejects {}: {}", consumer.name(), it.message, reject.reason());
        DeadLetters.Address to = deadLetters.address();
        if (to == null) {
            it.subscription.reject(it.tag);
            unsettled--;
            return;
        }
        it.notBefore = System.nanoTime();
        BasicProperties properties = DeadLetters.properties(it.message, consumer.name(), reject.reason());
        Letter letter = new Letter(to.exchange(), to.routingKey(), properties, it.message.body());
        acknowledgeAfter(sender.send(letter), it, "dead-lettered");
    }

    /** Acknowledges the message only after the broker has confirmed its copy. */
    private void acknowledgeAfter(CompletableFuture<Void> confirmed, UnackedDelivery it, String what) {
        confirmed.whenComplete((nothing, error) -> actions.submit(() -> {
            if (error == null) {
                it.subscription.acknowledge(it.tag);
                unsettled--;
            } else {
                log.warn("{} could not be {}, and is kept: {}", it.message, what, describe(error));
                hold(it, System.nanoTime() + PAUSE.toNanos());
            }
        }));
    }

    /**
     * Requeues what has not begun, and waits for handlers that run, so that their messages are acknowledged, or at
     * least their ends stored if the connection is gone.
     */
    private void handOver() throws InterruptedException {
        Subscription now = subscription;
        if (now != null) {
            now.cancel();
        }
        long until = System.nanoTime() + handOver.toNanos();
        actions.runPending(System.nanoTime());
        requeueHeld();
        while (unsettled > 0 && until - System.nanoTime() > 0) {
            actions.runPending(until);
            requeueHeld();
        }
        if (unsettled > 0) {
            log.warn("Consumer {} stops while {} messages are being handled", consumer.name(), unsettled);
        }
    }

    /**
     * A closed channel would requeue them as well, but a quorum queue counts that against the delivery limit. With a
     * prefetch of 1 that is accepted, because the order is kept: a quorum queue without such a limit puts explicitly
     * requeued messages at its end.
     */
    private void requeueHeld() {
        if (prefetch > 1) {
            held.removeIf(UnackedDelivery::isStale);
            held.forEach(it -> it.subscription.requeue(it.tag));
            held.clear();
        }
    }

    private static String describe(Throwable error) {
        Throwable cause = error.getCause(); // the client says why in the cause
        return cause == null ? error.toString() : error + " (" + cause.getMessage() + ")";
    }
}
