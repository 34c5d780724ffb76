package dev.hapax.messaging.sqs;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.hapax.NotBegunException;
import dev.hapax.TerminalFailure;
import dev.hapax.messaging.Backoff;
import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.messaging.MessageHandler;
import dev.hapax.messaging.queues.ConsumerFixture;
import dev.hapax.testkit.fault.FaultProxy;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;

@Timeout(60)
class SqsConsumerTest {
    private final ConsumerFixture<SqsMessage> work = new ConsumerFixture<>(
            (name, hapax) -> SqsMessages.consumer(name, hapax).key(SqsMessages.attribute("key")), SqsMessage::body);
    private final ElasticMq sqs = ElasticMq.shared();
    private final String queue = sqs.newQueue();
    private final String dead = sqs.newQueue();
    private final CountDownLatch go = new CountDownLatch(1);

    @AfterEach
    void close() throws Exception {
        go.countDown();
        work.close();
    }

    private SqsConsumerLoop start(SqsConsumerLoop.Builder loop) {
        return work.closing(loop.start());
    }

    private SqsConsumerLoop.Builder loop(MessageHandler<SqsMessage> handler) {
        return loop(work.consumer(handler));
    }

    private SqsConsumerLoop.Builder loop(IdempotentConsumer<SqsMessage> consumer) {
        return SqsConsumerLoop.of(sqs.client(), consumer)
                .queueUrl(queue)
                .waitTime(Duration.ofSeconds(1))
                .visibility(Duration.ofSeconds(3))
                .handOver(Duration.ZERO)
                .deadLetters(DeadLetters.toQueue(dead));
    }

    @Test
    void duplicateIsDeletedWithoutRunning() {
        sqs.send(queue, "a");
        sqs.send(queue, "a");
        sqs.send(queue, "b");
        start(loop((message, lease) -> {}));

        await().until(() -> sqs.size(queue) == 0);
        assertThat(work.handled).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void messageStaysHiddenWhileItsHandlerRuns() {
        List<Integer> receiveCounts = new CopyOnWriteArrayList<>();
        sqs.send(queue, "slow");
        start(loop((message, lease) -> {
            receiveCounts.add(message.receiveCount());
            go.await();
        }));
        await().until(() -> !receiveCounts.isEmpty());

        Duration longerThanItsVisibility = Duration.ofSeconds(4);
        await().during(longerThanItsVisibility)
                .atMost(Duration.ofSeconds(60))
                .until(() -> sqs.waiting(queue) == 0 && sqs.size(queue) == 1);
        go.countDown();
        await().until(() -> sqs.size(queue) == 0);
        assertThat(receiveCounts).containsExactly(1);
        assertThat(work.observed.replayed).hasValue(0);
    }

    @Test
    void failedMessageIsLeftToSqsForTheDelay() {
        List<String> tries = new CopyOnWriteArrayList<>();
        sqs.send(queue, "a");
        start(loop((message, lease) -> {
            tries.add(lease.attempt() + "/" + message.receiveCount());
            if (lease.attempt() < 3) {
                throw new IllegalStateException("not yet");
            }
        }));

        await().until(() -> work.handled.equals(List.of("a")) && sqs.size(queue) == 0);
        assertThat(tries).containsExactly("1/1", "2/2", "3/3");
    }

    @Test
    void failedMessageHoldsItsGroupOnly() {
        String fifo = sqs.newFifoQueue();
        Map<String, Integer> receiveCounts = new ConcurrentHashMap<>();
        for (int i = 0; i < 4; i++) {
            sqs.sendInGroup(fifo, "bad", "bad-" + i);
            sqs.sendInGroup(fifo, "good", "good-" + i);
        }
        start(loop((message, lease) -> {
                    receiveCounts.merge(message.body(), message.receiveCount(), Math::max);
                    if (message.body().equals("bad-0") && (lease.attempt() < 3 || go.getCount() > 0)) {
                        throw new IllegalStateException("not yet");
                    }
                })
                .queueUrl(fifo));

        List<String> good = List.of("good-0", "good-1", "good-2", "good-3");
        await().untilAsserted(() -> assertThat(work.handled).isEqualTo(good));
        go.countDown();
        List<String> all = new ArrayList<>(good);
        all.addAll(List.of("bad-0", "bad-1", "bad-2", "bad-3"));
        await().untilAsserted(() -> assertThat(work.handled).isEqualTo(all));
        await().until(() -> sqs.size(fifo) == 0);
        assertThat(receiveCounts.values()).containsOnly(1);
    }

    @Test
    void groupsKeepTheirOrder() {
        String fifo = sqs.newFifoQueue();
        List<String> expected =
                IntStream.range(0, 25).mapToObj(i -> String.format("%02d", i)).toList();
        for (String number : expected) {
            for (String group : List.of("a", "b", "c")) {
                sqs.sendInGroup(fifo, group, group + number);
            }
        }
        start(loop((message, lease) -> {}).queueUrl(fifo));

        await().atMost(Duration.ofSeconds(60)).until(() -> sqs.size(fifo) == 0);
        for (String group : List.of("a", "b", "c")) {
            assertThat(work.handled.stream().filter(it -> it.startsWith(group)))
                    .containsExactlyElementsOf(
                            expected.stream().map(it -> group + it).toList());
        }
    }

    @Test
    void rejectedMessageIsDeadLetteredWithItsReason() {
        sqs.send(queue, "a");
        start(loop((message, lease) -> {
            throw new TerminalFailure(422, "no such customer\u0000");
        }));

        await().until(() -> sqs.waiting(dead) == 1 && sqs.size(queue) == 0);
        Message letter = sqs.takeAll(dead).get("a");
        assertThat(letter.messageAttributes().get("key").stringValue()).isEqualTo("a");
        assertThat(letter.messageAttributes().get(DeadLetters.REASON).stringValue())
                .isEqualTo("no such customer?");
        assertThat(letter.messageAttributes().get(DeadLetters.CONSUMER).stringValue())
                .isEqualTo(ConsumerFixture.NAME);
    }

    @Test
    void messageIsKeptWithoutItsDeadLetter() {
        sqs.send(queue, "a");
        SqsConsumerLoop loop = start(loop((message, lease) -> {
                    throw new TerminalFailure(422, "no such customer");
                })
                .handOver(Duration.ofSeconds(5))
                .deadLetters(DeadLetters.toQueue(dead + "-that-is-not-there")));
        await().until(() -> work.isTerminal("a"));
        loop.close();
        assertThat(sqs.size(queue)).isEqualTo(1);

        start(loop((message, lease) -> {}));
        await().until(() -> sqs.waiting(dead) == 1 && sqs.size(queue) == 0);
        assertThat(work.handled).isEmpty();
    }

    @Test
    void rejectedMessageCanBeLeftToRedrive() {
        String redriven = sqs.newQueueWithRedrive(2, dead);
        AtomicInteger runs = new AtomicInteger();
        sqs.send(redriven, "a");
        start(loop((message, lease) -> {
                    runs.incrementAndGet();
                    throw new TerminalFailure(422, "no such customer");
                })
                .queueUrl(redriven)
                .deadLetters(DeadLetters.byRedrive()));

        await().atMost(Duration.ofSeconds(60)).until(() -> sqs.waiting(dead) == 1);
        assertThat(runs).hasValue(1);
    }

    @Test
    void keysComeFromBodyOrDeduplicationId() {
        String fifo = sqs.newFifoQueue();
        sqs.send(queue, "x", "{\"order\": 7}");
        sqs.send(queue, "y", "{\"order\": 7}");
        sqs.sendInGroup(fifo, "g", "first");
        sqs.sendInGroup(fifo, "g", "second");
        start(loop(work.consumer((message, lease) -> {}, it -> it.key(SqsMessages.payload("/order")))));
        start(loop(work.consumer((message, lease) -> {}, it -> it.key(SqsMessages.deduplicationId())))
                .queueUrl(fifo));

        await().until(() -> sqs.size(queue) == 0 && sqs.size(fifo) == 0);
        assertThat(work.handled).containsExactlyInAnyOrder("{\"order\": 7}", "first", "second");
    }

    @Test
    void maxInFlightBoundsReceives() {
        AtomicInteger begun = new AtomicInteger();
        for (int i = 0; i < 10; i++) {
            sqs.send(queue, "m" + i);
        }
        start(loop((message, lease) -> {
                    begun.incrementAndGet();
                    go.await();
                })
                .maxInFlight(3));

        await().until(() -> begun.get() == 3);
        assertThat(sqs.waiting(queue)).isEqualTo(7);
        go.countDown();
        await().until(() -> sqs.size(queue) == 0);
        assertThat(work.handled).hasSize(10);
    }

    @Test
    void closeWaitsForHandlersAndShowsTheRest() throws Exception {
        CountDownLatch begun = new CountDownLatch(2);
        for (int i = 0; i < 6; i++) {
            sqs.send(queue, "m" + i);
        }
        SqsConsumerLoop loop = start(loop((message, lease) -> {
                    begun.countDown();
                    go.await();
                })
                .visibility(Duration.ofMinutes(10))
                .handOver(Duration.ofSeconds(5))
                .threads(2));
        begun.await();
        await().until(() -> sqs.waiting(queue) == 0);
        Thread closing = new Thread(loop::close);
        closing.start();
        await().until(() -> closing.getState() == Thread.State.WAITING);
        go.countDown();
        closing.join();

        assertThat(work.handled).hasSize(2);
        assertThat(sqs.waiting(queue)).isEqualTo(4);
    }

    @Test
    void loopGoesOnAfterAnOutageOfSqs() throws Exception {
        FaultProxy proxy = work.closing(FaultProxy.to("127.0.0.1", sqs.port()));
        SqsAsyncClient client = work.closing(ElasticMq.client(proxy.port()));
        List<String> begun = new CopyOnWriteArrayList<>();
        SqsConsumerLoop loop = start(SqsConsumerLoop.of(client, work.consumer((message, lease) -> {
                    begun.add(message.body());
                    if (message.body().equals("slow")) {
                        go.await();
                    }
                }))
                .queueUrl(queue)
                .waitTime(Duration.ofSeconds(1))
                .visibility(Duration.ofSeconds(3))
                .deadLetters(DeadLetters.toQueue(dead)));
        sqs.send(queue, "slow");
        await().until(() -> begun.equals(List.of("slow")));
        proxy.refuse();
        proxy.cut();
        await().until(() -> !loop.isConsuming());
        go.countDown();
        await().until(() -> work.handled.equals(List.of("slow")));
        sqs.send(queue, "after");
        proxy.accept();

        await().atMost(Duration.ofSeconds(60)).until(() -> sqs.size(queue) == 0);
        assertThat(work.handled).containsExactly("slow", "after");
        assertThat(loop.isConsuming()).isTrue();
    }

    @Test
    void closeDoesNotWaitForALongPoll() throws Exception {
        SqsConsumerLoop loop = start(SqsConsumerLoop.of(sqs.client(), work.consumer((message, lease) -> {}))
                .queueUrl(queue)
                .handOver(Duration.ofMinutes(1))
                .deadLetters(DeadLetters.toQueue(dead)));
        sqs.send(queue, "a");
        await().until(() -> sqs.size(queue) == 0);
        Thread closing = new Thread(loop::close);
        closing.start();

        await().atMost(Duration.ofSeconds(15)).until(() -> !closing.isAlive()); // a long poll takes 20 s
    }

    @Test
    void closedLoopLeavesNoReceiveBehind() {
        SqsConsumerLoop loop = start(loop((message, lease) -> {}).handOver(Duration.ofSeconds(5)));
        sqs.send(queue, "a");
        await().until(() -> sqs.size(queue) == 0);
        loop.close();
        sqs.send(queue, "b");

        Message received = sqs.receive(queue);
        assertThat(received.body()).isEqualTo("b");
        assertThat(new SqsMessage(received).receiveCount()).isEqualTo(1);
    }

    @Test
    void messageOfALateReceiveIsShownAtOnce() {
        SqsConsumerLoop loop = start(
                loop((message, lease) -> {}).waitTime(Duration.ofSeconds(20)).visibility(Duration.ofHours(1)));
        sqs.send(queue, "a");
        await().until(() -> sqs.size(queue) == 0);
        loop.close();
        sqs.send(queue, "b");

        assertThat(sqs.receive(queue).body()).isEqualTo("b");
        assertThat(work.handled).containsExactly("a");
    }

    @Test
    void heldMessageIsShownByALoopThatClosesAtOnce() {
        CountDownLatch refused = new CountDownLatch(1);
        sqs.send(queue, "a");
        SqsConsumerLoop loop = start(loop(work.consumer(
                        (message, lease) -> {
                            refused.countDown();
                            throw new NotBegunException("the circuit is open");
                        },
                        it -> it.backoff(new Backoff(Duration.ofHours(1), Duration.ofHours(1)))))
                .waitTime(Duration.ofSeconds(20)) // so that a receive is under way
                .visibility(Duration.ofHours(1)));
        await().until(() -> refused.getCount() == 0);
        loop.close();

        assertThat(sqs.receive(queue).body()).isEqualTo("a");
    }

    @Test
    void finishedMessageIsDeletedByALoopThatClosesAtOnce() {
        CompletableFuture<SqsConsumerLoop> loop = new CompletableFuture<>();
        AtomicInteger deliveries = new AtomicInteger();
        loop.complete(start(loop(work.consumer(
                        (message, lease) -> {},
                        it -> it.key(message -> {
                            if (deliveries.incrementAndGet() == 2) {
                                loop.join().close();
                            }
                            return "a";
                        })))
                .maxInFlight(1) // so that no receive is under way, whose answer would send the delete as well
                .visibility(Duration.ofHours(1))));
        sqs.send(queue, "a");
        await().until(() -> sqs.size(queue) == 0);
        sqs.send(queue, "a");
        await().until(() -> loop.join().stopped().toCompletableFuture().isDone());

        await().until(() -> sqs.size(queue) == 0);
        assertThat(deliveries).hasValue(2);
    }

    @Test
    void messageThatSqsCannotHideSoLongIsReleased() {
        List<Integer> hiddenFor = new CopyOnWriteArrayList<>();
        sqs.send(queue, "later");
        start(SqsConsumerLoop.of(
                        recorded(hiddenFor),
                        work.consumer(
                                (message, lease) -> {
                                    if (message.body().equals("later")) {
                                        sqs.send(queue, "now");
                                        throw new NotBegunException("the circuit is open");
                                    }
                                },
                                it -> it.backoff(new Backoff(Duration.ofHours(24), Duration.ofHours(24)))))
                .queueUrl(queue)
                .deadLetters(DeadLetters.toQueue(dead))
                .handOver(Duration.ZERO)
                .maxInFlight(1));

        await().until(() -> work.handled.equals(List.of("now")));
        int longestHold = (int) Duration.ofHours(11).toSeconds();
        assertThat(hiddenFor)
                .singleElement(as(InstanceOfAssertFactories.INTEGER))
                .isBetween(longestHold - 600, longestHold);
    }

    /** @param hiddenFor gets the seconds of all changes of a visibility */
    @SuppressWarnings("unchecked")
    private SqsAsyncClient recorded(List<Integer> hiddenFor) {
        return (SqsAsyncClient) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {SqsAsyncClient.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("changeMessageVisibilityBatch")) {
                        ChangeMessageVisibilityBatchRequest.Builder request =
                                ChangeMessageVisibilityBatchRequest.builder();
                        ((Consumer<ChangeMessageVisibilityBatchRequest.Builder>) arguments[0]).accept(request);
                        request.build().entries().forEach(it -> hiddenFor.add(it.visibilityTimeout()));
                    }
                    return method.invoke(sqs.client(), arguments);
                });
    }

    @Test
    void fifoQueueIsNotLeftToRedrive() {
        SqsConsumerLoop.Builder fifo =
                loop((message, lease) -> {}).queueUrl(sqs.newFifoQueue()).deadLetters(DeadLetters.byRedrive());
        assertThatThrownBy(fifo::start)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("DeadLetters.toQueue");
    }

    @Test
    void fifoDeadLettersAreNotDeduplicated() {
        String deadFifo = sqs.newFifoQueue();
        for (String fifo : List.of(sqs.newFifoQueue(), sqs.newFifoQueue())) {
            sqs.sendInGroup(fifo, "g", "body of " + fifo, "order-7");
            start(loop(work.consumer(
                            (message, lease) -> {
                                throw new TerminalFailure(422, "no such customer");
                            },
                            it -> it.key(SqsMessages.messageId())))
                    .queueUrl(fifo)
                    .deadLetters(DeadLetters.toQueue(deadFifo)));
            await().until(() -> sqs.size(fifo) == 0);
        }

        assertThat(sqs.size(deadFifo)).isEqualTo(2);
    }

    @Test
    void bytesInAnAttributeAreAKey() {
        MessageAttributeValue key = MessageAttributeValue.builder()
                .dataType("Binary")
                .binaryValue(SdkBytes.fromUtf8String("order-7"))
                .build();
        for (int i = 0; i < 2; i++) {
            sqs.client()
                    .sendMessage(it -> it.queueUrl(queue).messageBody("x").messageAttributes(Map.of("key", key)))
                    .join();
        }
        start(loop((message, lease) -> {}));

        await().until(() -> sqs.size(queue) == 0);
        assertThat(work.handled).containsExactly("x");
    }

    @Test
    void closedLoopHasStopped() {
        SqsConsumerLoop loop = start(loop((message, lease) -> {}));
        await().until(loop::isConsuming);
        assertThat(loop.stopped()).isNotDone();
        loop.close();

        assertThat(loop.stopped()).isCompleted();
        assertThat(loop.isConsuming()).isFalse();
    }
}
