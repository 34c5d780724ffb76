package dev.hapax.messaging.rabbit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.GetResponse;
import dev.hapax.TerminalFailure;
import dev.hapax.messaging.Backoff;
import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.messaging.MessageHandler;
import dev.hapax.messaging.queues.ConsumerFixture;
import dev.hapax.testkit.fault.FaultProxy;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a consumer owes its messages, whichever broker speaks to it. */
@Timeout(60)
abstract class RabbitConsumerContract {
    final ConsumerFixture<RabbitMessage> work = fixture();
    final Broker broker = broker();
    final String queue = broker.newQueue();
    private final CountDownLatch go = new CountDownLatch(1);
    private final AtomicInteger failures = new AtomicInteger();

    abstract Broker broker();

    static ConsumerFixture<RabbitMessage> fixture() {
        return new ConsumerFixture<>(RabbitMessages::consumer, RabbitConsumerContract::body);
    }

    static String body(RabbitMessage message) {
        return new String(message.body(), StandardCharsets.UTF_8);
    }

    final RabbitConsumerLoop start(RabbitConsumerLoop.Builder loop) {
        return work.closing(loop.start());
    }

    @AfterEach
    void close() throws Exception {
        go.countDown();
        work.close();
    }

    final RabbitConsumerLoop.Builder loop(MessageHandler<RabbitMessage> handler) {
        return loop(work.consumer(handler));
    }

    final RabbitConsumerLoop.Builder loop(IdempotentConsumer<RabbitMessage> consumer) {
        return RabbitConsumerLoop.of(broker.factory(), consumer)
                .queue(queue)
                .handOver(Duration.ofSeconds(5))
                .deadLetters(DeadLetters.toQueue(queue + ".dead"));
    }

    @Test
    void duplicateIsAcknowledgedWithoutRunning() {
        broker.send(queue, "a");
        broker.send(queue, "a");
        broker.send(queue, "b");
        RabbitConsumerLoop loop = start(loop((message, lease) -> {}));

        await().untilAsserted(() -> assertThat(work.handled).containsExactlyInAnyOrder("a", "b"));
        await().until(() -> work.observed.replayed.get() == 1);
        loop.close();
        assertThat(broker.waiting(queue)).isZero();
        assertThat(work.handled).hasSize(2);
    }

    @Test
    void messageIsUnackedWhileItsHandlerRuns() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        broker.send(queue, "a");
        RabbitConsumerLoop loop = start(loop((message, lease) -> {
                    begun.countDown();
                    go.await();
                })
                .handOver(Duration.ZERO));
        begun.await();
        loop.close();

        assertThat(broker.waiting(queue)).isEqualTo(1);
    }

    @Test
    void failedMessageIsHeldInsteadOfRequeued() {
        List<String> tries = new CopyOnWriteArrayList<>();
        broker.send(queue, "a");
        start(loop((message, lease) -> {
            tries.add(lease.attempt() + (message.redelivered() ? " redelivered" : ""));
            if (lease.attempt() < 4) {
                throw new IllegalStateException("not yet");
            }
        }));

        await().untilAsserted(() -> assertThat(work.handled).containsExactly("a"));
        assertThat(tries).containsExactly("1", "2", "3", "4");
    }

    @Test
    void failedMessageDoesNotBlockOthers() {
        broker.send(queue, "bad");
        broker.send(queue, "good");
        start(loop((message, lease) -> {
            if (body(message).equals("bad")) {
                throw new IllegalStateException("always");
            }
        }));

        await().untilAsserted(() -> assertThat(work.handled).containsExactly("good"));
    }

    @Test
    void prefetchOfOneKeepsTheOrder() {
        for (int i = 0; i < 5; i++) {
            broker.send(queue, "m" + i);
        }
        start(loop((message, lease) -> {
                    if (lease.attempt() == 1) {
                        throw new IllegalStateException("not yet");
                    }
                })
                .prefetch(1));

        await().untilAsserted(() -> assertThat(work.handled).containsExactly("m0", "m1", "m2", "m3", "m4"));
    }

    @Test
    void prefetchBoundsMessagesInFlight() {
        AtomicInteger begun = new AtomicInteger();
        for (int i = 0; i < 10; i++) {
            broker.send(queue, "m" + i);
        }
        start(loop((message, lease) -> {
                    begun.incrementAndGet();
                    go.await();
                })
                .prefetch(3));

        await().until(() -> begun.get() == 3);
        for (int i = 0; i < 7; i++) {
            assertThat(broker.take(queue)).isNotNull();
        }
        go.countDown();
        await().untilAsserted(() -> assertThat(work.handled).hasSize(3));
    }

    @Test
    void rejectedMessageIsDeadLetteredWithItsReason() {
        broker.declare(queue + ".dead", Map.of());
        broker.send(queue, "a");
        RabbitConsumerLoop loop = start(loop((message, lease) -> {
            throw new TerminalFailure(422, "no such customer");
        }));

        await().until(() -> broker.waiting(queue + ".dead") == 1);
        GetResponse letter = broker.take(queue + ".dead");
        assertThat(letter.getBody()).isEqualTo("a".getBytes(StandardCharsets.UTF_8));
        assertThat(letter.getProps().getMessageId()).isEqualTo("a");
        assertThat(letter.getProps().getHeaders().get(DeadLetters.REASON)).hasToString("no such customer");
        assertThat(letter.getProps().getHeaders().get(DeadLetters.CONSUMER)).hasToString(ConsumerFixture.NAME);
        assertThat(letter.getProps().getHeaders().get(DeadLetters.ROUTING_KEY)).hasToString(queue);
        loop.close();
        assertThat(broker.waiting(queue)).isZero();
    }

    @Test
    void messageIsKeptWithoutItsDeadLetter() {
        broker.send(queue, "a");
        RabbitConsumerLoop loop = start(loop((message, lease) -> {
            throw new TerminalFailure(422, "no such customer");
        }));
        await().until(() -> work.isTerminal("a"));
        loop.close();
        assertThat(broker.waiting(queue)).isEqualTo(1);

        broker.declare(queue + ".dead", Map.of());
        start(loop((message, lease) -> {}));
        await().until(() -> broker.waiting(queue + ".dead") == 1);
        assertThat(work.handled).isEmpty();
    }

    @Test
    void messageHeldForTooLongIsRequeued() {
        List<Boolean> redelivered = new CopyOnWriteArrayList<>();
        broker.send(queue, "a");
        start(loop(work.consumer(
                        (message, lease) -> {
                            redelivered.add(message.redelivered());
                            if (lease.attempt() == 1) {
                                throw new IllegalStateException("not yet");
                            }
                        },
                        it -> it.backoff(new Backoff(Duration.ofHours(1), Duration.ofHours(1)))))
                .longestHold(Duration.ofMillis(200)));

        await().untilAsserted(() -> assertThat(work.handled).containsExactly("a"));
        assertThat(redelivered).containsExactly(false, true);
    }

    @Test
    void brokenConnectionRepeatsNothing() throws Exception {
        FaultProxy proxy = work.closing(FaultProxy.to("127.0.0.1", broker.port()));
        CountDownLatch begun = new CountDownLatch(1);
        RabbitConsumerLoop loop =
                start(RabbitConsumerLoop.of(Broker.factory(proxy.port()), work.consumer((message, lease) -> {
                            if (body(message).equals("slow")) {
                                begun.countDown();
                                go.await();
                            }
                        }))
                        .queue(queue)
                        .deadLetters(DeadLetters.byBroker()));
        broker.send(queue, "slow");
        begun.await();
        proxy.cut();
        await().until(() -> !loop.isConsuming());
        await().until(loop::isConsuming);
        broker.send(queue, "after");
        await().untilAsserted(() -> assertThat(work.handled).containsExactly("after"));
        go.countDown();

        await().untilAsserted(() -> assertThat(work.handled).containsExactly("after", "slow"));
        await().until(() -> work.observed.replayed.get() == 1);
        loop.close();
        assertThat(broker.waiting(queue)).isZero();
        assertThat(work.handled).hasSize(2);
    }

    @Test
    void staleTagAcknowledgesNothing() throws Exception {
        FaultProxy proxy = work.closing(FaultProxy.to("127.0.0.1", broker.port()));
        CountDownLatch never = new CountDownLatch(1);
        List<String> begun = new CopyOnWriteArrayList<>();
        RabbitConsumerLoop loop =
                start(RabbitConsumerLoop.of(Broker.factory(proxy.port()), work.consumer((message, lease) -> {
                            begun.add(body(message));
                            (body(message).equals("a") ? go : never).await();
                        }))
                        .queue(queue)
                        .handOver(Duration.ZERO)
                        .deadLetters(DeadLetters.byBroker()));
        broker.send(queue, "a");
        await().until(() -> begun.equals(List.of("a")));
        proxy.refuse();
        proxy.cut();
        try (Connection other = broker.factory().newConnection();
                Channel channel = other.createChannel()) {
            await().until(() -> channel.basicGet(queue, false) != null);
            proxy.accept();
            broker.send(queue, "b");
            await().until(() -> begun.equals(List.of("a", "b")));
            go.countDown();
            await().until(() -> work.handled.equals(List.of("a")));
            loop.close();
            await().untilAsserted(
                            () -> assertThat(channel.basicGet(queue, false)).isNotNull());
        }
        never.countDown();
    }

    @Test
    void closeWaitsForHandlersAndRequeuesTheRest() throws Exception {
        CountDownLatch begun = new CountDownLatch(2);
        for (int i = 0; i < 6; i++) {
            broker.send(queue, "m" + i);
        }
        RabbitConsumerLoop loop = start(loop((message, lease) -> {
                    begun.countDown();
                    go.await();
                })
                .threads(2));
        begun.await();
        Thread closing = new Thread(loop::close);
        closing.start();
        await().until(() -> closing.getState() == Thread.State.WAITING);
        go.countDown();
        closing.join();

        assertThat(work.handled).hasSize(2);
        assertThat(broker.waiting(queue)).isEqualTo(4);
    }

    @Test
    void staleDeliveryIsNotDeadLettered() throws Exception {
        String dead = broker.declare(queue + ".dead", Map.of());
        FaultProxy proxy = work.closing(FaultProxy.to("127.0.0.1", broker.port()));
        CountDownLatch begun = new CountDownLatch(1);
        AtomicInteger connections = new AtomicInteger();
        RabbitConsumerLoop loop = start(RabbitConsumerLoop.over(
                        () -> (connections.incrementAndGet() == 1 ? Broker.factory(proxy.port()) : broker.factory())
                                .newConnection(),
                        work.consumer((message, lease) -> {
                            begun.countDown();
                            go.await();
                            throw new TerminalFailure(422, "no such customer");
                        }))
                .queue(queue)
                .deadLetters(DeadLetters.toQueue(dead)));
        broker.send(queue, "a");
        begun.await();
        proxy.cut();
        await().until(() -> work.observed.inProgress.get() > 0); // it was delivered again
        go.countDown();

        await().until(() -> work.observed.replayed.get() == 1 && broker.waiting(dead) > 0);
        loop.close();
        assertThat(broker.waiting(dead)).isEqualTo(1);
        assertThat(broker.waiting(queue)).isZero();
    }

    @Test
    void runningLoopKeepsItsSettings() throws Exception {
        FaultProxy proxy = work.closing(FaultProxy.to("127.0.0.1", broker.port()));
        RabbitConsumerLoop.Builder builder = RabbitConsumerLoop.of(
                        Broker.factory(proxy.port()), work.consumer((message, lease) -> {}))
                .queue(queue)
                .deadLetters(DeadLetters.byBroker());
        RabbitConsumerLoop loop = start(builder);
        await().until(loop::isConsuming);
        builder.queue(broker.newQueue());
        proxy.cut();
        await().until(() -> !loop.isConsuming());
        broker.send(queue, "a");

        await().untilAsserted(() -> assertThat(work.handled).containsExactly("a"));
    }

    @Test
    void requeueIsNotReportedAsAFailure() {
        List<String> calls = new CopyOnWriteArrayList<>();
        broker.send(queue, "a");
        start(recorded(calls, firstAttemptFails()).longestHold(Duration.ofMillis(200)));

        await().untilAsserted(() -> assertThat(work.handled).containsExactly("a"));
        assertThat(calls).contains("basicNack").doesNotContain("basicReject");
    }

    @Test
    void closeRequeuesHeldMessages() {
        List<String> calls = new CopyOnWriteArrayList<>();
        broker.send(queue, "a");
        RabbitConsumerLoop loop = start(recorded(calls, firstAttemptFails()));
        await().until(() -> failures.get() == 1);
        loop.close();

        assertThat(calls).contains("basicNack");
        assertThat(broker.waiting(queue)).isEqualTo(1);
    }

    private IdempotentConsumer<RabbitMessage> firstAttemptFails() {
        return work.consumer(
                (message, lease) -> {
                    if (lease.attempt() == 1) {
                        failures.incrementAndGet();
                        throw new IllegalStateException("not yet");
                    }
                },
                it -> it.backoff(new Backoff(Duration.ofHours(1), Duration.ofHours(1))));
    }

    /** @param calls gets the names of the methods that the loop calls on the client */
    private RabbitConsumerLoop.Builder recorded(List<String> calls, IdempotentConsumer<RabbitMessage> consumer) {
        return RabbitConsumerLoop.over(
                        () -> recorded(Connection.class, broker.factory().newConnection(), calls), consumer)
                .queue(queue)
                .handOver(Duration.ofSeconds(5))
                .deadLetters(DeadLetters.byBroker());
    }

    private static <T> T recorded(Class<T> type, T client, List<String> calls) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    calls.add(method.getName());
                    try {
                        Object result = method.invoke(client, arguments);
                        return result instanceof Channel channel ? recorded(Channel.class, channel, calls) : result;
                    } catch (InvocationTargetException thrown) {
                        throw thrown.getCause();
                    }
                }));
    }

    @Test
    void closeWaitsForHandlersWhileDisconnected() throws Exception {
        FaultProxy proxy = work.closing(FaultProxy.to("127.0.0.1", broker.port()));
        CountDownLatch begun = new CountDownLatch(1);
        RabbitConsumerLoop loop =
                start(RabbitConsumerLoop.of(Broker.factory(proxy.port()), work.consumer((message, lease) -> {
                            begun.countDown();
                            go.await();
                        }))
                        .queue(queue)
                        .handOver(Duration.ofMinutes(1))
                        .deadLetters(DeadLetters.byBroker()));
        broker.send(queue, "a");
        begun.await();
        proxy.refuse();
        proxy.cut();
        await().until(() -> !loop.isConsuming());
        Thread closing = new Thread(loop::close);
        closing.start();
        await().during(Duration.ofMillis(500)).until(closing::isAlive);
        go.countDown();
        closing.join();

        assertThat(work.handled).containsExactly("a");
    }

    @Test
    void failedDelayPublishKeepsTheBackoff() {
        String delay = broker.newQueue();
        List<Integer> attempts = new CopyOnWriteArrayList<>();
        AtomicInteger connections = new AtomicInteger();
        broker.send(queue, "a");
        start(RabbitConsumerLoop.over(
                        () -> {
                            if (connections.incrementAndGet() == 2) { // the first one that publishes
                                throw new IOException("refused");
                            }
                            return broker.factory().newConnection();
                        },
                        work.consumer(
                                (message, lease) -> {
                                    attempts.add(lease.attempt());
                                    throw new IllegalStateException("not yet");
                                },
                                it -> it.backoff(new Backoff(Duration.ofHours(1), Duration.ofHours(1)))))
                .queue(queue)
                .delayQueue(delay, Duration.ofMillis(100))
                .deadLetters(DeadLetters.byBroker()));

        await().until(() -> broker.waiting(delay) == 1);
        assertThat(attempts).containsExactly(1);
    }

    @Test
    void closedLoopHasStopped() {
        RabbitConsumerLoop loop = start(loop((message, lease) -> {}));
        await().until(loop::isConsuming);
        assertThat(loop.stopped()).isNotDone();
        loop.close();

        assertThat(loop.stopped()).isCompleted();
        assertThat(loop.isConsuming()).isFalse();
    }

    @Test
    void brokenLoopSaysWhatStoppedIt() {
        AssertionError broken = new AssertionError("not a failure that passes");
        RabbitConsumerLoop loop = start(RabbitConsumerLoop.over(
                        () -> {
                            throw broken;
                        },
                        work.consumer((message, lease) -> {}))
                .queue(queue)
                .deadLetters(DeadLetters.byBroker()));

        assertThat(loop.stopped())
                .failsWithin(Duration.ofSeconds(60))
                .withThrowableOfType(ExecutionException.class)
                .withCause(broken);
        assertThat(loop.isConsuming()).isFalse();
    }
}
