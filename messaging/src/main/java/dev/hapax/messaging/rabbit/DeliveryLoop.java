package dev.hapax.messaging.rabbit;

import com.rabbitmq.client.AMQP.BasicProperties;
import dev.hapax.messaging.Backoff;
import dev.hapax.messaging.Delivery;
import dev.hapax.messaging.Disposition;
import dev.hapax.messaging.Disposition.Reject;
import dev.hapax.messaging.Disposition.RetryLater;
import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.messaging.Turn;
import dev.hapax.messaging.rabbit.ConfirmedSender.Letter;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread behind a {@link RabbitConsumerLoop}: it subscribes, asks the engine for what has arrived, all of it
 * together, and for what was held and is due. Answers come on threads of the engine that others wait for, so that this
 * thread carries them out: a broker that reads slowly makes it wait.
 */
final class DeliveryLoop implements Runnable, Subscription.Events {
    private static final Logger log = LoggerFactory.getLogger(DeliveryLoop.class);
    private static final Backoff RECONNECT = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(15));
    private static final Duration SHORTEST_DELAY = Duration.ofMillis(20);
    private static final Duration PAUSE = Duration.ofSeconds(2);
    private static final Duration CONFIRM_PATIENCE = Duration.ofSeconds(30);

    private final RabbitConsumerLoop.Builder settings;
    private final IdempotentConsumer<RabbitMessage> consumer;
    private final DeadLetters deadLetters;
    private final ThreadPoolExecutor own;
    private final Executor executor;
    private final ConfirmedSender sender;

    private final Queue<Held> arrived = new ConcurrentLinkedQueue<>();
    private final Queue<Held> comingBack = new ConcurrentLinkedQueue<>();
    private final Queue<Runnable> answered = new ConcurrentLinkedQueue<>();
    private final Semaphore news = new Semaphore(0);
    private final AtomicInteger open = new AtomicInteger();
    private volatile boolean stopping;
    private volatile @Nullable Subscription subscription;

    /** The loop's thread's own: what is held, soonest first, and when to connect. */
    private final PriorityQueue<Held> held = new PriorityQueue<>(Comparator.comparingLong(it -> it.notBefore));

    private int failedConnects;
    private long connectAt = System.nanoTime();

    DeliveryLoop(RabbitConsumerLoop.Builder settings) {
        this.settings = settings;
        this.consumer = settings.consumer;
        this.deadLetters = Objects.requireNonNull(settings.deadLetters, "deadLetters");
        this.own = pool(settings.threads, consumer.name());
        this.executor = settings.executor == null ? own : settings.executor;
        this.sender = new ConfirmedSender(settings.connections, CONFIRM_PATIENCE);
    }

    boolean isConsuming() {
        Subscription now = subscription;
        return now != null && now.ended() == null;
    }

    void stop() {
        stopping = true;
        news.release();
    }

    @Override
    public void delivered(Held delivery) {
        arrived.add(delivery);
        news.release();
    }

    @Override
    public void ended(Subscription which) {
        news.release();
    }

    @Override
    public void run() {
        try {
            while (!stopping) {
                keepSubscribed();
                carryOutAnswers();
                ask(due());
                awaitNews();
            }
            handOver();
        } catch (InterruptedException e) {
            log.warn("Consumer {} was interrupted and stops", consumer.name());
        } catch (RuntimeException | Error broken) {
            log.error("Consumer {} stops", consumer.name(), broken);
            throw broken;
        } finally {
            hangUp();
            sender.close();
            own.shutdown();
        }
    }

    private void keepSubscribed() {
        Subscription now = subscription;
        if (now != null && now.ended() == null) {
            return;
        }
        if (now != null) {
            log.warn("Consumer {} lost its subscription: {}", consumer.name(), now.ended());
            hangUp();
            connectAt = System.nanoTime() + RECONNECT.after(1).toNanos();
        }
        if (connectAt - System.nanoTime() <= 0) {
            subscribe();
        }
    }

    private void subscribe() {
        try {
            subscription = Subscription.begin(settings.connections, settings.queue, settings.prefetch, this);
            failedConnects = 0;
            log.info("Consumer {} consumes queue {}", consumer.name(), settings.queue);
        } catch (IOException | TimeoutException | RuntimeException failed) {
            failedConnects++;
            Duration pause = RECONNECT.after(failedConnects);
            connectAt = System.nanoTime() + pause.toNanos();
            log.warn(
                    "Consumer {} cannot consume queue {}, tries again in {} ms: {}",
                    consumer.name(),
                    settings.queue,
                    pause.toMillis(),
                    describe(failed));
        }
    }

    /** What a subscription held is the broker's again once it has ended. */
    private void hangUp() {
        Subscription now = subscription;
        subscription = null;
        if (now != null) {
            now.close();
        }
        held.removeIf(it -> it.subscription.ended() != null);
    }

    private List<Held> due() {
        List<Held> due = new ArrayList<>();
        for (Held it = arrived.poll(); it != null; it = arrived.poll()) {
            due.add(it);
        }
        for (Held it = comingBack.poll(); it != null; it = comingBack.poll()) {
            held.add(it);
        }
        long now = System.nanoTime();
        while (!held.isEmpty() && held.peek().notBefore - now <= 0) {
            due.add(held.remove());
        }
        due.removeIf(it -> it.subscription.ended() != null);
        return due;
    }

    private void awaitNews() throws InterruptedException {
        long wait = TimeUnit.MINUTES.toNanos(1);
        if (!held.isEmpty()) {
            wait = Math.min(wait, held.peek().notBefore - System.nanoTime());
        }
        if (!isConsuming()) {
            wait = Math.min(wait, connectAt - System.nanoTime());
        }
        if (news.tryAcquire(Math.max(0, wait), TimeUnit.NANOSECONDS)) {
            news.drainPermits();
        }
    }

    private void ask(List<Held> due) {
        due.stream().filter(it -> it.goesBack).forEach(it -> it.subscription.giveBack(it.tag));
        List<Held> asked = due.stream().filter(it -> !it.goesBack).toList();
        if (asked.isEmpty()) {
            return;
        }
        open.addAndGet(asked.size());
        List<CompletionStage<Disposition>> answers = consumer.consumeAll(asked.stream()
                .map(it -> new Delivery<>(it.message, executor, turn(it)))
                .toList());
        for (int i = 0; i < asked.size(); i++) {
            Held it = asked.get(i);
            answers.get(i).thenAccept(answer -> {
                answered.add(() -> answer(it, answer));
                news.release();
            });
        }
    }

    private void carryOutAnswers() {
        for (Runnable answer = answered.poll(); answer != null; answer = answered.poll()) {
            answer.run();
        }
    }

    private void answer(Held it, Disposition disposition) {
        done().thenCompose(now -> carryOut(it, disposition)).whenComplete((done, error) -> {
            if (error != null) {
                log.error("A message could not be handled", error);
                comeBack(it, new RetryLater(PAUSE, error.toString()));
            }
            open.decrementAndGet();
            if (stopping) {
                news.release();
            }
        });
    }

    private CompletionStage<?> carryOut(Held it, Disposition disposition) {
        return disposition.fold(
                ack -> {
                    it.subscription.acknowledge(it.tag);
                    return done();
                },
                later -> comeBack(it, later),
                reject -> bury(it, reject));
    }

    private static CompletableFuture<?> done() {
        return CompletableFuture.completedFuture(null);
    }

    /** Held as long as it may be; if that is not long enough, the broker takes over. */
    private CompletableFuture<?> comeBack(Held it, RetryLater later) {
        log.debug("{} comes back: {}", it.message, later.reason());
        Duration delay = later.delay().compareTo(SHORTEST_DELAY) < 0 ? SHORTEST_DELAY : later.delay();
        long now = System.nanoTime();
        long heldUntil = it.since + settings.longestHold.toNanos();
        boolean tooLong = now + delay.toNanos() - heldUntil > 0;
        if (tooLong && settings.delayQueue != null) {
            return delay(it, settings.delayQueue, delay);
        }
        it.goesBack = tooLong;
        it.notBefore = tooLong ? Math.max(heldUntil, now + SHORTEST_DELAY.toNanos()) : now + delay.toNanos();
        hold(it);
        return done();
    }

    private void hold(Held it) {
        comingBack.add(it);
        news.release();
    }

    private CompletableFuture<?> delay(Held it, String delayQueue, Duration delay) {
        Letter letter = new Letter("", delayQueue, DeadLetters.delayed(it.message, delay), it.message.body());
        return acknowledgeOnce(it, sender.send(letter), "delayed");
    }

    private CompletableFuture<?> bury(Held it, Reject reject) {
        log.warn("Consumer {} rejects {}: {}", consumer.name(), it.message, reject.reason());
        DeadLetters.Address to = deadLetters.address();
        if (to == null) {
            it.subscription.reject(it.tag);
            return done();
        }
        BasicProperties properties = DeadLetters.properties(it.message, consumer.name(), reject.reason());
        Letter letter = new Letter(to.exchange(), to.routingKey(), properties, it.message.body());
        return acknowledgeOnce(it, sender.send(letter), "dead-lettered");
    }

    /** Only a copy that is known to be kept lets the message go. */
    private CompletableFuture<?> acknowledgeOnce(Held it, CompletableFuture<Void> kept, String what) {
        return kept.handle((nothing, error) -> {
            if (error == null) {
                it.subscription.acknowledge(it.tag);
            } else {
                log.warn("{} could not be {}, and is kept: {}", it.message, what, describe(error));
                it.notBefore = System.nanoTime() + PAUSE.toNanos();
                hold(it);
            }
            return null;
        });
    }

    /** What has not begun is given back; what runs is waited for, so that it is acknowledged. */
    private void handOver() throws InterruptedException {
        Subscription now = subscription;
        if (now == null) {
            return;
        }
        now.cancel();
        long until = System.nanoTime() + settings.handOver.toNanos();
        carryOutAnswers();
        while (open.get() > 0 && until - System.nanoTime() > 0) {
            news.tryAcquire(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS);
            carryOutAnswers();
        }
        if (open.get() > 0) {
            log.warn("Consumer {} stops while {} messages are being handled", consumer.name(), open.get());
        }
    }

    private static String describe(Throwable error) {
        Throwable cause = error.getCause(); // the client says why in the cause
        return cause == null ? error.toString() : error + " (" + cause.getMessage() + ")";
    }

    /** Nothing begins once the loop stops, or the broker will deliver the message to somebody else. */
    private Turn turn(Held it) {
        return new Turn() {
            @Override
            public boolean mayBegin() {
                return !stopping && it.subscription.ended() == null;
            }
        };
    }

    private static ThreadPoolExecutor pool(int threads, String name) {
        AtomicInteger count = new AtomicInteger();
        ThreadPoolExecutor pool =
                new ThreadPoolExecutor(threads, threads, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, "hapax-rabbit-" + name + "-" + count.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }
}
