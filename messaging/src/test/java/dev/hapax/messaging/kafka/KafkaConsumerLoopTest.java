package dev.hapax.messaging.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.Hapax;
import dev.hapax.HapaxListener;
import dev.hapax.Policy;
import dev.hapax.TerminalFailure;
import dev.hapax.memory.MemoryStore;
import dev.hapax.messaging.Backoff;
import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.outbox.OutboxMessage;
import dev.hapax.outbox.Outgoing;
import dev.hapax.outbox.PublishResult;
import dev.hapax.store.OperationKey;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class KafkaConsumerLoopTest {
    private static TestKafka kafka;
    private static KafkaProducer<byte[], byte[]> producer;

    private final String group = "g-" + UUID.randomUUID();
    private final MemoryStore store = new MemoryStore();
    private final AtomicInteger claimsRefused = new AtomicInteger();
    private final Hapax hapax = hapax();
    private final List<String> handled = new CopyOnWriteArrayList<>();

    @BeforeAll
    static void start() {
        kafka = TestKafka.shared();
        producer = kafka.producer();
    }

    @AfterAll
    static void stop() {
        producer.close();
    }

    @AfterEach
    void close() {
        hapax.close();
    }

    @Test
    void everyRecordIsHandledOnceInOrderAndCommitted() {
        String topic = kafka.newTopic(1);
        for (int i = 0; i < 200; i++) {
            send(topic, "m" + i);
            send(topic, "m" + i);
        }
        try (KafkaConsumerLoop loop = loop(topic, consumer()).start()) {
            awaitCommitted(topic, 400);
        }
        assertThat(handled).isEqualTo(names(200));
    }

    @Test
    void aRejectedRecordIsAmongTheDeadLettersBeforeItsOffsetIsPassed() throws Exception {
        String topic = kafka.newTopic(1);
        ProducerRecord<byte[], byte[]> bad = TestKafka.record(topic, "bad", "value");
        bad.headers().add("trace", TestKafka.bytes("t-1"));
        send(topic, "m0");
        producer.send(bad);
        send(topic, "m1");
        IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer = builder(hapax)
                .handling((record, lease) -> {
                    if (key(record).equals("bad")) {
                        throw new TerminalFailure(422, "no such account");
                    }
                    handled.add(key(record));
                });
        try (KafkaConsumerLoop loop =
                loop(topic, consumer).deadLetters(DeadLetters.toTopic(producer)).start()) {
            awaitCommitted(topic, 3);
        }
        assertThat(handled).containsExactly("m0", "m1");
        ConsumerRecord<byte[], byte[]> letter =
                readAll(topic + ".dead-letters", 1).get(0);
        assertThat(key(letter)).isEqualTo("bad");
        assertThat(new String(letter.value(), StandardCharsets.UTF_8)).isEqualTo("value");
        assertThat(headers(letter))
                .containsEntry("trace", "t-1")
                .containsEntry(DeadLetterTopic.REASON, "no such account")
                .containsEntry(DeadLetterTopic.CONSUMER, "mailer")
                .containsEntry(DeadLetterTopic.TOPIC, topic)
                .containsEntry(DeadLetterTopic.PARTITION, "0")
                .containsEntry(DeadLetterTopic.OFFSET, "1");
    }

    @Test
    void aLetterThatCannotBeKeptHoldsTheOffset() {
        String topic = kafka.newTopic(1);
        AtomicInteger tries = new AtomicInteger();
        producer.send(new ProducerRecord<>(topic, TestKafka.bytes("no key")));
        send(topic, "m0");
        DeadLetters flaky = letter -> {
            assertThat(kafka.committed(group, topic)).isZero();
            if (tries.incrementAndGet() < 2) {
                throw new IllegalStateException("broker is away");
            }
            return java.util.concurrent.CompletableFuture.completedFuture(letter);
        };
        try (KafkaConsumerLoop loop = loop(topic, consumer()).deadLetters(flaky).start()) {
            awaitCommitted(topic, 2);
        }
        assertThat(tries).hasValue(2);
        assertThat(handled).containsExactly("m0");
    }

    @Test
    void aLoopThatKeepsNoLettersStopsAtTheRejectedRecord() {
        String topic = kafka.newTopic(1);
        send(topic, "m0");
        producer.send(new ProducerRecord<>(topic, TestKafka.bytes("no key")));
        send(topic, "m1");
        try (KafkaConsumerLoop loop = loop(topic, consumer()).start()) {
            assertThatThrownBy(() -> loop.stopped().toCompletableFuture().get(60, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isInstanceOfSatisfying(
                            RejectedRecordException.class,
                            it -> assertThat(it.letter().record().offset()).isEqualTo(1));
        }
        assertThat(kafka.committed(group, topic)).isEqualTo(1);
        assertThat(handled).containsExactly("m0");
    }

    @Test
    void aRecordThatFailsComesBackBeforeThoseBehindItAndOtherPartitionsGoOn() {
        String topic = kafka.newTopic(2);
        AtomicInteger failures = new AtomicInteger(3);
        for (int i = 0; i < 5; i++) {
            producer.send(new ProducerRecord<>(topic, 0, TestKafka.bytes("a" + i), new byte[0]));
            producer.send(new ProducerRecord<>(topic, 1, TestKafka.bytes("b" + i), new byte[0]));
        }
        producer.flush();
        CountDownLatch others = new CountDownLatch(5);
        IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer = builder(hapax)
                .handling((record, lease) -> {
                    if (record.partition() == 1) {
                        others.countDown();
                        return;
                    }
                    if (key(record).equals("a1") && failures.getAndDecrement() > 0) {
                        assertThat(others.await(30, TimeUnit.SECONDS)).isTrue();
                        throw new IllegalStateException("not yet");
                    }
                    handled.add(key(record));
                });
        try (KafkaConsumerLoop loop = loop(topic, consumer).start()) {
            awaitCommitted(topic, 10);
        }
        assertThat(handled).containsExactly("a0", "a1", "a2", "a3", "a4");
    }

    @Test
    void whatIsInProgressElsewhereIsWaitedForWithoutSkippingOrSpinning() throws Exception {
        String topic = kafka.newTopic(1);
        CountDownLatch release = new CountDownLatch(1);
        CountDownLatch running = new CountDownLatch(1);
        try (Hapax other = hapax()) {
            var elsewhere = builder(other).handling((record, lease) -> {
                running.countDown();
                release.await();
            });
            var threads = java.util.concurrent.Executors.newSingleThreadExecutor();
            var end = elsewhere.consume(
                    new ConsumerRecord<>(topic, 0, 0, TestKafka.bytes("m0"), TestKafka.bytes("m0")), threads);
            running.await();
            send(topic, "m0");
            send(topic, "m1");
            try (KafkaConsumerLoop loop = loop(topic, consumer()).start()) {
                Awaitility.await().atMost(TestKafka.patience()).until(() -> claimsRefused.get() >= 3);
                int asked = claimsRefused.get();
                Awaitility.await()
                        .pollDelay(Duration.ofSeconds(2))
                        .atMost(TestKafka.patience())
                        .until(() -> true);
                assertThat(claimsRefused.get() - asked).isLessThanOrEqualTo(3);
                assertThat(handled).isEmpty();
                assertThat(kafka.committed(group, topic)).isZero();
                release.countDown();
                end.toCompletableFuture().join();
                awaitCommitted(topic, 2);
            }
            threads.shutdown();
        }
        assertThat(handled).containsExactly("m1");
    }

    @Test
    void handlersSlowerThanThePollIntervalDoNotCostThePartition() {
        String topic = kafka.newTopic(1);
        send(topic, "m0");
        send(topic, "m1");
        Map<String, Object> settings = kafka.consumer(group);
        settings.put("max.poll.interval.ms", 2_000);
        IdempotentConsumer<ConsumerRecord<byte[], byte[]>> slow = builder(hapax).handling((record, lease) -> {
            TimeUnit.SECONDS.sleep(4);
            handled.add(key(record) + "#" + lease.attempt());
        });
        try (KafkaConsumerLoop loop = KafkaConsumerLoop.of(settings, slow)
                .topics(topic)
                .deadLetters(DeadLetters.stopping())
                .start()) {
            awaitCommitted(topic, 2);
        }
        assertThat(handled).containsExactly("m0#1", "m1#1");
    }

    @Test
    void closingWaitsForWhatRunsCommitsItAndGivesTheRestBack() throws Exception {
        String topic = kafka.newTopic(1);
        names(20).forEach(name -> send(topic, name));
        CountDownLatch begun = new CountDownLatch(1);
        IdempotentConsumer<ConsumerRecord<byte[], byte[]>> first = builder(hapax)
                .handling((record, lease) -> {
                    begun.countDown();
                    TimeUnit.MILLISECONDS.sleep(500);
                    handled.add(key(record));
                });
        try (KafkaConsumerLoop loop = loop(topic, first).start()) {
            begun.await();
        }
        assertThat(handled).hasSizeBetween(1, 2);
        assertThat(kafka.committed(group, topic)).isEqualTo(handled.size());
        long inFlight = names(20).stream().filter(this::isProcessing).count();
        assertThat(inFlight).isZero();
        try (KafkaConsumerLoop loop = loop(topic, consumer()).start()) {
            awaitCommitted(topic, 20);
        }
        assertThat(handled).isEqualTo(names(20));
    }

    @ParameterizedTest
    @ValueSource(strings = {"eager", "cooperative", "consumer protocol"})
    void partitionsMoveToANewConsumerWithoutLosingOrRepeatingAnything(String rebalance) {
        String topic = kafka.newTopic(4);
        Map<String, Object> settings = kafka.consumer(group);
        if (rebalance.equals("cooperative")) {
            settings.put("partition.assignment.strategy", CooperativeStickyAssignor.class.getName());
        } else if (rebalance.equals("consumer protocol")) {
            settings.keySet().removeAll(List.of("session.timeout.ms", "heartbeat.interval.ms"));
            settings.put("group.protocol", "consumer");
        }
        settings.put("max.poll.records", 20);
        names(400).forEach(name -> send(topic, name));
        IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer = builder(hapax)
                .handling((record, lease) -> {
                    TimeUnit.MILLISECONDS.sleep(5);
                    handled.add(key(record));
                });
        KafkaConsumerLoop.Builder one = KafkaConsumerLoop.of(settings, consumer).maxInFlight(40);
        KafkaConsumerLoop.Builder two = KafkaConsumerLoop.of(settings, consumer).maxInFlight(40);
        try (KafkaConsumerLoop a =
                one.topics(topic).deadLetters(DeadLetters.stopping()).start()) {
            Awaitility.await().atMost(TestKafka.patience()).until(() -> handled.size() > 50);
            try (KafkaConsumerLoop b =
                    two.topics(topic).deadLetters(DeadLetters.stopping()).start()) {
                Awaitility.await().atMost(TestKafka.patience()).until(() -> handled.size() > 200);
            }
            awaitCommitted(topic, 400);
        }
        assertThat(handled).hasSize(400).containsExactlyInAnyOrderElementsOf(names(400));
    }

    @Test
    void recordsOfDifferentKeysRunAtOnceIfOnlyKeysKeepTheirOrder() {
        String topic = kafka.newTopic(1);
        CyclicBarrier together = new CyclicBarrier(3);
        for (int i = 0; i < 2; i++) {
            for (String account : List.of("a", "b", "c")) {
                ProducerRecord<byte[], byte[]> record = TestKafka.record(topic, account, account + i);
                record.headers().add("id", TestKafka.bytes(account + i));
                producer.send(record);
            }
        }
        producer.flush();
        IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer = KafkaMessages.consumer("mailer", hapax)
                .key(KafkaMessages.header("id"))
                .handling((record, lease) -> {
                    together.await(30, TimeUnit.SECONDS);
                    handled.add(new String(record.value(), StandardCharsets.UTF_8));
                });
        try (KafkaConsumerLoop loop =
                loop(topic, consumer).ordering(Ordering.BY_KEY).start()) {
            awaitCommitted(topic, 6);
        }
        for (String account : List.of("a", "b", "c")) {
            assertThat(handled).containsSubsequence(account + "0", account + "1");
        }
    }

    @Test
    void theOutboxsMessagesArriveWithTheirIdAndAreHandledOnce() {
        String topic = kafka.newTopic(1);
        OutboxMessage message = OutboxMessage.to(topic, TestKafka.bytes("{}"))
                .aggregate("order-1")
                .header("type", "OrderPlaced");
        try (KafkaPublisher publisher = KafkaPublisher.of(Map.of("bootstrap.servers", kafka.bootstrapServers()))) {
            for (int attempt = 1; attempt <= 2; attempt++) {
                assertThat(publisher
                                .publish(List.of(new Outgoing(message, Instant.now(), attempt, Duration.ofSeconds(30))))
                                .get(0)
                                .toCompletableFuture()
                                .join())
                        .isEqualTo(PublishResult.published());
            }
            OutboxMessage large = OutboxMessage.to(topic, new byte[2_000_000]);
            assertThat(publisher
                            .publish(List.of(new Outgoing(large, Instant.now(), 1, Duration.ofSeconds(30))))
                            .get(0)
                            .toCompletableFuture()
                            .join())
                    .isInstanceOf(PublishResult.Refused.class);
        }
        IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer = KafkaMessages.consumer("mailer", hapax)
                .key(KafkaMessages.header(Outgoing.ID_HEADER))
                .handling((record, lease) -> handled.add(headers(record).get("type")));
        try (KafkaConsumerLoop loop = loop(topic, consumer).start()) {
            awaitCommitted(topic, 2);
        }
        assertThat(handled).containsExactly("OrderPlaced");
    }

    @Test
    void settingsThatWouldLoseMessagesAreRefused() {
        Map<String, Object> settings = kafka.consumer(group);
        settings.put("enable.auto.commit", "true");
        assertThatThrownBy(() -> KafkaConsumerLoop.of(settings, consumer()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("enable.auto.commit");
        assertThatThrownBy(() -> KafkaConsumerLoop.of(kafka.consumer(group), consumer())
                        .topics("t")
                        .start())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("deadLetters");
    }

    private boolean isProcessing(String name) {
        return hapax.find(new OperationKey("", "mailer", name).id())
                .toCompletableFuture()
                .join()
                .filter(found -> found.state() == dev.hapax.store.State.PROCESSING)
                .isPresent();
    }

    private Hapax hapax() {
        return Hapax.on(store)
                .scope("mailer", Policy.defaults())
                .listener(new HapaxListener() {
                    @Override
                    public void inProgress(OperationKey key) {
                        claimsRefused.incrementAndGet();
                    }
                })
                .build();
    }

    private static IdempotentConsumer.Builder<ConsumerRecord<byte[], byte[]>> builder(Hapax hapax) {
        return KafkaMessages.consumer("mailer", hapax)
                .key(KafkaMessages.recordKey())
                .backoff(new Backoff(Duration.ofMillis(50), Duration.ofSeconds(1)));
    }

    private IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer() {
        return builder(hapax).handling((record, lease) -> handled.add(key(record)));
    }

    private KafkaConsumerLoop.Builder loop(String topic, IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer) {
        return KafkaConsumerLoop.of(kafka.consumer(group), consumer)
                .topics(topic)
                .deadLetters(DeadLetters.stopping());
    }

    private static void send(String topic, String name) {
        producer.send(TestKafka.record(topic, name, name));
        producer.flush();
    }

    private void awaitCommitted(String topic, long offset) {
        Awaitility.await()
                .atMost(TestKafka.patience())
                .pollInterval(Duration.ofMillis(100))
                .until(() -> kafka.committed(group, topic) == offset);
    }

    private static List<String> names(int count) {
        return IntStream.range(0, count).mapToObj(i -> "m" + i).toList();
    }

    private static String key(ConsumerRecord<byte[], byte[]> record) {
        return new String(record.key(), StandardCharsets.UTF_8);
    }

    private static Map<String, String> headers(ConsumerRecord<byte[], byte[]> record) {
        Map<String, String> headers = new java.util.HashMap<>();
        record.headers().forEach(it -> headers.put(it.key(), new String(it.value(), StandardCharsets.UTF_8)));
        return headers;
    }

    private List<ConsumerRecord<byte[], byte[]>> readAll(String topic, int count) {
        List<ConsumerRecord<byte[], byte[]>> all = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> reader = new KafkaConsumer<>(
                kafka.consumer("reader-" + topic), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            reader.assign(List.of(TestKafka.partition(topic, 0)));
            Awaitility.await().atMost(TestKafka.patience()).until(() -> {
                reader.poll(Duration.ofMillis(200)).forEach(all::add);
                return all.size() >= count;
            });
        }
        return all;
    }
}
