package dev.hapax.messaging.sqs;

import dev.hapax.messaging.Backoff;
import dev.hapax.messaging.Delivery;
import dev.hapax.messaging.Disposition;
import dev.hapax.messaging.Disposition.Reject;
import dev.hapax.messaging.Disposition.RetryLater;
import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.messaging.Turn;
import dev.hapax.messaging.sqs.Received.State;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread behind a {@link SqsConsumerLoop}. It owns all that is known about messages; SQS and the engine answer on
 * threads of theirs and leave what is to be done in a queue.
 *
 * <p>Receives while there is room: one request at a time while the queue has little, more as long as they come back
 * full. Asks the engine for what has arrived and is due, all of it together; of a FIFO group, for the first one only.
 * Keeps hidden what it has, twice as often as needed.
 */
final class ReceiveLoop implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(ReceiveLoop.class);
    private static final Backoff RECEIVE_AGAIN = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(15));
    private static final Backoff REJECT_AGAIN = new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(1));
    private static final Duration SHORTEST_DELAY = Duration.ofMillis(20);
    private static final Duration PAUSE = Duration.ofSeconds(2);
    private static final long LONGEST_HOLD = Duration.ofHours(11).toNanos(); // SQS hides a message for 12 at most
    private static final int LARGEST_RECEIVE = 10;
    private static final int MOST_RECEIVES = 8;

    private final SqsConsumerLoop.Builder settings;
    private final IdempotentConsumer<SqsMessage> consumer;
    private final DeadLetters deadLetters;
    private final Requests requests;
    private final ThreadPoolExecutor own;
    private final Executor executor;
    private final boolean fifo;
    private final long visibility;

    private final Queue<Runnable> todo = new ConcurrentLinkedQueue<>();
    private final Semaphore news = new Semaphore(0);
    private volatile boolean stopping;

    /** From here on the loop's thread's own. */
    private final Set<Received> inFlight = new LinkedHashSet<>();

    private final Map<String, Deque<Received>> groups = new HashMap<>();
    private final List<CompletableFuture<?>> receives = new ArrayList<>();
    private int receivesWanted = 1;
    private int expected;
    private int failedReceives;
    private long receiveAt = System.nanoTime();
    private long keepHiddenAt = System.nanoTime();

    ReceiveLoop(SqsConsumerLoop.Builder settings) {
        this.settings = settings;
        this.consumer = settings.consumer;
        this.deadLetters = Objects.requireNonNull(settings.deadLetters, "deadLetters");
        this.requests = new Requests(settings);
        this.own = pool(settings.threads, consumer.name());
        this.executor = settings.executor == null ? own : settings.executor;
        this.fifo = Requests.isFifo(settings.queueUrl);
        this.visibility = settings.visibility.toNanos();
    }

    void stop() {
        stopping = true;
        news.release();
    }

    /** Has something done on the loop's thread. */
    private void tell(Runnable what) {
        todo.add(what);
        news.release();
    }

    @Override
    public void run() {
        try {
            while (!stopping) {
                receive();
                ask(due());
                keepHidden();
                requests.flush();
                awaitNews(nextEvent());
            }
            handOver();
        } catch (InterruptedException e) {
            log.warn("Consumer {} was interrupted and stops", consumer.name());
        } catch (RuntimeException | Error broken) {
            log.error("Consumer {} stops", consumer.name(), broken);
            throw broken;
        } finally {
            receives.forEach(it -> it.cancel(true));
            own.shutdown();
        }
    }

    private void awaitNews(long until) throws InterruptedException {
        if (news.tryAcquire(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS)) {
            news.drainPermits();
        }
        for (Runnable what = todo.poll(); what != null; what = todo.poll()) {
            what.run();
        }
    }

    private long nextEvent() {
        long next = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        if (!inFlight.isEmpty()) {
            next = Math.min(next, keepHiddenAt);
        }
        for (Received it : inFlight) {
            if (it.state == State.WAITING && isFirst(it)) {
                next = Math.min(next, it.notBefore);
            }
        }
        return failedReceives > 0 && receives.isEmpty() ? Math.min(next, receiveAt) : next;
    }

    private void receive() {
        while (receives.size() < receivesWanted && receiveAt - System.nanoTime() <= 0) {
            int room = Math.min(LARGEST_RECEIVE, settings.maxInFlight - inFlight.size() - expected);
            if (room <= 0) {
                return;
            }
            CompletableFuture<List<SqsMessage>> asked = requests.receive(room);
            receives.add(asked);
            expected += room;
            asked.whenComplete((messages, error) -> tell(() -> received(room, messages, error)));
        }
    }

    private void received(int room, @Nullable List<SqsMessage> messages, @Nullable Throwable error) {
        receives.removeIf(CompletableFuture::isDone);
        expected -= room;
        if (messages == null) {
            failedReceives++;
            receivesWanted = 1;
            Duration pause = RECEIVE_AGAIN.after(failedReceives);
            receiveAt = System.nanoTime() + pause.toNanos();
            log.warn(
                    "Consumer {} cannot receive from {}, tries again in {} ms: {}",
                    consumer.name(),
                    settings.queueUrl,
                    pause.toMillis(),
                    String.valueOf(error));
            return;
        }
        failedReceives = 0;
        receivesWanted = messages.size() < room ? 1 : Math.min(2 * receivesWanted, MOST_RECEIVES);
        messages.forEach(this::arrived);
    }

    private void arrived(SqsMessage message) {
        long now = System.nanoTime();
        String group = fifo ? Objects.requireNonNullElse(message.groupId(), "") : null;
        Received it = new Received(message, group, now, now + visibility);
        inFlight.add(it);
        if (group != null) {
            groups.computeIfAbsent(group, name -> new ArrayDeque<>()).add(it);
        }
    }

    private boolean isFirst(Received it) {
        if (it.group == null) {
            return true;
        }
        Deque<Received> group = groups.get(it.group);
        return group != null && group.peek() == it;
    }

    private List<Received> due() {
        long now = System.nanoTime();
        List<Received> due = new ArrayList<>();
        for (Received it : inFlight) {
            if (it.state == State.WAITING && it.notBefore - now <= 0 && isFirst(it)) {
                due.add(it);
            }
        }
        return due;
    }

    private void ask(List<Received> due) {
        if (due.isEmpty()) {
            return;
        }
        due.forEach(it -> it.state = State.ASKED);
        List<CompletionStage<Disposition>> answers = consumer.consumeAll(due.stream()
                .map(it -> new Delivery<>(it.message, executor, turn()))
                .toList());
        for (int i = 0; i < due.size(); i++) {
            Received it = due.get(i);
            answers.get(i).whenComplete((answer, error) -> tell(() -> carryOut(it, answer, error)));
        }
    }

    /** Nothing begins once the loop stops. */
    private Turn turn() {
        return new Turn() {
            @Override
            public boolean mayBegin() {
                return !stopping;
            }
        };
    }

    private void carryOut(Received it, @Nullable Disposition answer, @Nullable Throwable error) {
        if (answer == null) {
            log.error("A message could not be handled", error);
            comeBack(it, new RetryLater(PAUSE, String.valueOf(error)));
        } else if (answer instanceof RetryLater later) {
            comeBack(it, later);
        } else if (answer instanceof Reject reject) {
            bury(it, reject);
        } else {
            delete(it);
        }
    }

    /** Its end is stored, so the next one of its group may begin, whether or not SQS hears of it at once. */
    private void delete(Received it) {
        it.state = State.LEAVING;
        leaveGroup(it);
        requests.delete(it).thenAccept(deleted -> tell(() -> forget(it)));
    }

    private void forget(Received it) {
        it.state = State.GONE;
        inFlight.remove(it);
        leaveGroup(it);
    }

    private void leaveGroup(Received it) {
        Deque<Received> group = it.group == null ? null : groups.get(it.group);
        if (group != null && group.remove(it) && group.isEmpty()) {
            groups.remove(it.group);
        }
    }

    private void comeBack(Received it, RetryLater later) {
        log.debug("{} comes back: {}", it.message, later.reason());
        if (stopping) {
            hold(it, Duration.ZERO);
        } else if (fifo && System.nanoTime() - it.since < LONGEST_HOLD) {
            hold(it, later.delay());
        } else {
            release(it, later.delay());
        }
    }

    private static void hold(Received it, Duration delay) {
        Duration pause = delay.compareTo(SHORTEST_DELAY) < 0 ? SHORTEST_DELAY : delay;
        it.notBefore = System.nanoTime() + pause.toNanos();
        it.state = State.WAITING;
    }

    /** Leaves it to SQS, and those of its group that wait behind it: they must not come before it. */
    private void release(Received it, Duration hidden) {
        Deque<Received> group = it.group == null ? null : groups.get(it.group);
        List<Received> released = group == null ? List.of(it) : List.copyOf(group);
        for (Received one : released) {
            requests.hide(one, hidden);
            forget(one);
        }
    }

    /** Only a letter that is known to be kept lets the message go. */
    private void bury(Received it, Reject reject) {
        log.warn("Consumer {} rejects {}: {}", consumer.name(), it.message, reject.reason());
        String url = deadLetters.queueUrl();
        if (url == null) {
            release(it, REJECT_AGAIN.after(it.message.receiveCount()));
            return;
        }
        it.state = State.LEAVING;
        requests.bury(url, it.message, consumer.name(), reject)
                .whenComplete((sent, error) -> tell(() -> {
                    if (error == null) {
                        delete(it);
                    } else {
                        log.warn("{} could not be dead-lettered, and is kept: {}", it.message, error.toString());
                        hold(it, PAUSE);
                    }
                }));
    }

    private void keepHidden() {
        long now = System.nanoTime();
        if (keepHiddenAt - now > 0) {
            return;
        }
        keepHiddenAt = now + visibility / 6;
        for (Received it : inFlight) {
            if (it.hiddenUntil - now < visibility * 2 / 3) {
                it.hiddenUntil = now + visibility;
                requests.keepHidden(it).thenAccept(hidden -> {
                    if (!hidden) {
                        log.debug("{} is no longer ours", it.message);
                    }
                });
            }
        }
    }

    /**
     * What has not begun is shown to others at once; what runs is waited for, so that it is deleted. So is a request
     * for messages that is under way: SQS would hide from everybody what it gave to a caller that is gone.
     */
    private void handOver() throws InterruptedException {
        long until = System.nanoTime() + settings.handOver.toNanos();
        giveBackWaiting();
        while (!(inFlight.isEmpty() && receives.isEmpty()) && until - System.nanoTime() > 0) {
            keepHidden();
            requests.flush();
            awaitNews(Math.min(until, keepHiddenAt));
            giveBackWaiting();
        }
        if (!inFlight.isEmpty()) {
            log.warn("Consumer {} stops while {} messages are being handled", consumer.name(), inFlight.size());
        }
    }

    private void giveBackWaiting() {
        if (receives.isEmpty()) { // or one of them would get it
            inFlight.stream().filter(it -> it.state == State.WAITING).forEach(this::giveBack);
        }
    }

    private void giveBack(Received it) {
        it.state = State.LEAVING;
        requests.hide(it, Duration.ZERO).thenAccept(hidden -> tell(() -> forget(it)));
    }

    private static ThreadPoolExecutor pool(int threads, String name) {
        AtomicInteger count = new AtomicInteger();
        ThreadPoolExecutor pool =
                new ThreadPoolExecutor(threads, threads, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, "hapax-sqs-" + name + "-" + count.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }
}
