package dev.hapax.messaging.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.Hapax;
import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.messaging.internal.DaemonThreads;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.GroupProtocol;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Partitions that come, go, start over and wait for each other, under both rebalance protocols. */
@Timeout(120)
@ParameterizedClass
@EnumSource(GroupProtocol.class)
class KafkaPartitionsTest extends KafkaLoopFixture {

    KafkaPartitionsTest(GroupProtocol protocol) {
        super(protocol);
    }

    @Test
    void latestSkipsNothingAfterAClose() throws Exception {
        String topic = kafka.newTopic(1);
        FirstOwner owner = FirstOwner.of(this, topic);
        owner.loop.close();
        nextOwnerHandlesAll(topic, owner.expected);
    }

    @Test
    void latestSkipsNothingAfterAKill() throws Exception {
        String topic = kafka.newTopic(1);
        FirstOwner owner = FirstOwner.of(this, topic);
        owner.kafka.killed.set(true);
        owner.loop.close();
        nextOwnerHandlesAll(topic, owner.expected);
    }

    @Test
    void latestSkipsNothingIfTheCommitWasOutOfRange() throws Exception {
        String topic = kafka.newTopic(1);
        try (FaultyConsumer before = new FaultyConsumer(latest())) {
            before.assign(List.of(TestKafka.partition(topic, 0)));
            before.commitSync(
                    Map.of(TestKafka.partition(topic, 0), new OffsetAndMetadata(1_000)), TestKafka.patience());
        }
        FirstOwner owner = FirstOwner.of(this, topic);
        owner.loop.close();
        nextOwnerHandlesAll(topic, owner.expected);
    }

    private void nextOwnerHandlesAll(String topic, List<String> expected) {
        assertThat(expected).hasSizeGreaterThanOrEqualTo(20);
        try (KafkaConsumerLoop next = loop(topic, latest(), consumer()).start()) {
            await().until(() -> handled.containsAll(expected));
        }
        assertThat(handled).containsAll(expected).doesNotHaveDuplicates();
    }

    private Map<String, Object> latest() {
        Map<String, Object> settings = settings();
        settings.put("auto.offset.reset", "latest");
        return settings;
    }

    /** A consumer that begins at the end of a topic, has records in hand, and settles none of them. */
    private static final class FirstOwner {
        final FaultyConsumer kafka;
        final KafkaConsumerLoop loop;
        final List<String> expected = new ArrayList<>();

        private FirstOwner(FaultyConsumer kafka, KafkaConsumerLoop loop) {
            this.kafka = kafka;
            this.loop = loop;
        }

        static FirstOwner of(KafkaPartitionsTest test, String topic) throws InterruptedException {
            List<String> begun = new CopyOnWriteArrayList<>();
            IdempotentConsumer<ConsumerRecord<byte[], byte[]>> failing = builder(test.hapax)
                    .handling((record, lease) -> {
                        begun.add(key(record));
                        throw new IllegalStateException("not here");
                    });
            FaultyConsumer kafka = new FaultyConsumer(test.latest());
            FirstOwner owner = new FirstOwner(kafka, loop(topic, kafka, failing).start());
            AtomicInteger sent = new AtomicInteger();
            await().until(() -> {
                send(topic, List.of("m" + sent.getAndIncrement()));
                return !begun.isEmpty();
            });
            int first = Integer.parseInt(begun.get(0).substring(1));
            send(topic, names(sent.get(), sent.get() + 20));
            owner.expected.addAll(names(first, sent.get() + 20));
            return owner;
        }
    }

    @Test
    void handlersWaitForTheCommitOfTheStart() {
        String topic = kafka.newTopic(1);
        send(topic, names(5));
        FaultyConsumer faulty = new FaultyConsumer(earliest());
        faulty.failingLookups.set(1);
        faulty.failingCommits.set(1);
        List<Integer> commitsBefore = new CopyOnWriteArrayList<>();
        IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer =
                builder(hapax).handling((record, lease) -> commitsBefore.add(faulty.commits.get()));
        try (KafkaConsumerLoop loop = loop(topic, faulty, consumer).start()) {
            awaitCommitted(topic, 5);
        }
        assertThat(faulty.failingLookups).hasValue(0);
        assertThat(faulty.failingCommits).hasValue(0);
        assertThat(commitsBefore).hasSize(5).doesNotContain(0);
    }

    private Map<String, Object> earliest() {
        Map<String, Object> settings = settings();
        settings.put("auto.offset.reset", "earliest");
        return settings;
    }

    @Test
    void everyPartitionProgressesOnFewThreads() throws Exception {
        int partitions = 64;
        int each = 24;
        int atMostPerSlice = 8;
        String topic = kafka.newTopic(partitions);
        for (int i = 0; i < each; i++) {
            for (int partition = 0; partition < partitions; partition++) {
                producer.send(new ProducerRecord<>(topic, partition, TestKafka.bytes(i + "-" + partition), null));
            }
        }
        producer.flush();
        CountDownLatch gate = new CountDownLatch(1);
        List<Integer> order = new CopyOnWriteArrayList<>();
        AtomicInteger submitted = new AtomicInteger();
        IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer = builder(hapax)
                .key(record -> submitted.incrementAndGet() > 0 ? key(record) : null)
                .handling((record, lease) -> {
                    order.add(record.partition());
                    gate.await();
                });
        ThreadPoolExecutor threads = DaemonThreads.pool(4, Integer.MAX_VALUE, "test");
        try (KafkaConsumerLoop loop = loop(topic, consumer)
                .maxInFlight(2 * partitions * each)
                .executor(threads)
                .start()) {
            await().until(() -> submitted.get() == partitions * each
                    && threads.getActiveCount() + threads.getQueue().size() == partitions);
            gate.countDown();
            awaitCommitted(topic, (long) partitions * each);
        }
        threads.shutdown();
        // each of the other threads may have been about to note one more
        assertThat(new HashSet<>(order.subList(0, partitions * atMostPerSlice)))
                .as("partitions among the first third of the records")
                .hasSizeGreaterThan(partitions - threads.getCorePoolSize());
    }

    @Test
    void partitionThatIsGoneDoesNotStopTheLoop() {
        String topic = kafka.newTopic(2);
        FaultyConsumer faulty = new FaultyConsumer(earliest());
        faulty.gonePartitions.set(4);
        send(topic, names(50));
        IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer = builder(hapax)
                .handling((record, lease) -> {
                    await().until(() -> faulty.gonePartitions.get() == 0);
                    handled.add(key(record));
                });
        try (KafkaConsumerLoop loop =
                loop(topic, faulty, consumer).maxInFlight(1).start()) {
            awaitCommitted(topic, 50);
            assertThat(loop.stopped().toCompletableFuture()).isNotDone();
        }
        assertThat(handled).hasSize(50);
    }

    @Test
    void offsetsThatGoBackBeginThePartitionAnew() {
        String topic = kafka.newTopic(1);
        FaultyConsumer faulty = new FaultyConsumer(earliest());
        send(topic, names(20));
        try (KafkaConsumerLoop loop = loop(topic, faulty, consumer()).start()) {
            awaitCommitted(topic, 20);
            int commits = faulty.commits.get();
            faulty.rewind.set(true);
            await().until(() -> faulty.commits.get() > commits);
            send(topic, names(20, 25));
            awaitCommitted(topic, 25);
            assertThat(loop.stopped().toCompletableFuture()).isNotDone();
        }
        assertThat(handled).isEqualTo(names(25));
    }

    @Test
    void partitionsMoveWithoutLossOrRepeat() {
        partitionsMove(settings());
    }

    @Test
    void partitionsMoveWithAnotherAssignor() {
        Map<String, Object> settings = settings();
        if (protocol == GroupProtocol.CLASSIC) {
            settings.put("partition.assignment.strategy", CooperativeStickyAssignor.class.getName());
        } else {
            settings.put("group.remote.assignor", "range");
        }
        partitionsMove(settings);
    }

    private void partitionsMove(Map<String, Object> settings) {
        String topic = kafka.newTopic(4);
        settings.put("max.poll.records", 20);
        List<String> second = new CopyOnWriteArrayList<>();
        AtomicInteger sent = new AtomicInteger();
        try (KafkaConsumerLoop a =
                loop(topic, settings, consumer()).maxInFlight(40).start()) {
            sendMore(topic, sent, 40);
            await().until(() -> handled.size() == 40);
            try (Hapax other = newHapax();
                    KafkaConsumerLoop b = loop(
                                    topic,
                                    settings,
                                    builder(other).handling((record, lease) -> second.add(key(record))))
                            .maxInFlight(40)
                            .start()) {
                await().until(() -> {
                    sendMore(topic, sent, 8);
                    return !second.isEmpty();
                });
                int before = handled.size();
                sendMore(topic, sent, 100);
                await().until(() -> handled.size() > before); // each of the two has partitions
            }
            sendMore(topic, sent, 40);
            awaitCommitted(topic, sent.get());
        }
        assertThat(second).as("handled by the second consumer").isNotEmpty();
        List<String> all = new ArrayList<>(handled);
        all.addAll(second);
        assertThat(all).containsExactlyInAnyOrderElementsOf(names(sent.get()));
    }

    private static void sendMore(String topic, AtomicInteger sent, int count) {
        send(topic, names(sent.get(), sent.addAndGet(count)));
    }

    @Test
    void oldUnsettledRecordPausesThePartition() {
        String topic = kafka.newTopic(1);
        send(topic, names(600));
        Map<String, Object> settings = earliest();
        settings.put("max.poll.records", 20);
        AtomicInteger failuresBeyond = new AtomicInteger();
        AtomicInteger furthest = new AtomicInteger();
        AtomicBoolean settled = new AtomicBoolean();
        IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer = builder(hapax)
                .handling((record, lease) -> {
                    if (record.offset() == 0) {
                        if (handled.size() < 80 || failuresBeyond.incrementAndGet() < 3) {
                            throw new IllegalStateException("not yet");
                        }
                        settled.set(true);
                    } else if (!settled.get()) {
                        furthest.accumulateAndGet((int) record.offset(), Math::max);
                    }
                    handled.add(key(record));
                });
        try (KafkaConsumerLoop loop = loop(topic, settings, consumer)
                .ordering(Ordering.BY_KEY)
                .maxCommitLag(100)
                .start()) {
            awaitCommitted(topic, 600);
        }
        assertThat(furthest.get()).isBetween(80, 100 + 20);
    }

    @Test
    void blockedDeadLettersLeaveHandlersFree() {
        String topic = kafka.newTopic(2);
        for (int i = 0; i < 6; i++) {
            producer.send(new ProducerRecord<>(topic, 0, null, TestKafka.bytes("no key"))); // is rejected
        }
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch producerIsBack = new CountDownLatch(1);
        List<Long> letters = new CopyOnWriteArrayList<>();
        DeadLetters blocking = letter -> {
            blocked.countDown();
            awaitUninterruptibly(producerIsBack);
            letters.add(letter.record().offset());
            return CompletableFuture.completedFuture(null);
        };
        try (KafkaConsumerLoop loop =
                loop(topic, consumer()).threads(2).deadLetters(blocking).start()) {
            awaitUninterruptibly(blocked);
            names(6).forEach(name -> producer.send(new ProducerRecord<>(topic, 1, TestKafka.bytes(name), null)));
            await().until(() -> handled.size() == 6);
            assertThat(letters).isEmpty();
            producerIsBack.countDown();
            awaitCommitted(topic, 12);
        }
        assertThat(letters).containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            assertThat(latch.await(1, TimeUnit.MINUTES)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void partitionsAssignedByHandAreHandled() {
        String topic = kafka.newTopic(2);
        send(topic, names(10));
        FaultyConsumer byHand = new FaultyConsumer(earliest());
        byHand.assign(List.of(TestKafka.partition(topic, 0), TestKafka.partition(topic, 1)));
        try (KafkaConsumerLoop loop = KafkaConsumerLoop.over(byHand, consumer())
                .deadLetters(DeadLetters.stopping())
                .start()) {
            awaitCommitted(topic, 10);
            await().until(loop::isConsuming);
        }
        assertThat(byHand.commits).as("commits of the start").hasPositiveValue();
        assertThat(handled).containsExactlyInAnyOrderElementsOf(names(10));
    }

    @Test
    void loopIsConsumingUntilItIsClosed() {
        String topic = kafka.newTopic(1);
        KafkaConsumerLoop loop = loop(topic, consumer()).start();
        await().until(loop::isConsuming);
        loop.close();
        assertThat(loop.isConsuming()).isFalse();
    }

    @Test
    void loopThatStoppedIsNotConsuming() {
        String topic = kafka.newTopic(1);
        FaultyConsumer faulty = new FaultyConsumer(settings());
        try (KafkaConsumerLoop loop = loop(topic, faulty, consumer()).start()) {
            await().until(loop::isConsuming);
            faulty.killed.set(true);
            await().until(() -> !loop.isConsuming());
        }
    }
}
