package dev.hapax.messaging.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.Hapax;
import dev.hapax.TerminalFailure;
import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.outbox.OutboxMessage;
import dev.hapax.outbox.Outgoing;
import dev.hapax.outbox.PublishResult;
import dev.hapax.store.OperationKey;
import dev.hapax.store.State;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.GroupProtocol;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(120)
@ParameterizedClass
@EnumSource(GroupProtocol.class)
class KafkaConsumerLoopTest extends KafkaLoopFixture {
    KafkaConsumerLoopTest(GroupProtocol protocol) {
        super(protocol);
    }

    @Test
    void everyRecordIsHandledOnceInOrder() {
        String topic = kafka.newTopic(1);
        send(topic, names(200).stream().flatMap(name -> Stream.of(name, name)).toList());
        try (KafkaConsumerLoop loop = loop(topic, consumer()).start()) {
            awaitCommitted(topic, 400);
        }
        assertThat(handled).isEqualTo(names(200));
    }

    @Test
    void rejectedRecordIsKeptBeforeItsOffsetIsPassed() throws Exception {
        String topic = kafka.newTopic(1);
        ProducerRecord<byte[], byte[]> bad = TestKafka.record(topic, "bad", "value");
        bad.headers().add("trace", TestKafka.bytes("t-1"));
        send(topic, List.of("m0"));
        producer.send(bad);
        send(topic, List.of("m1"));
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
    void letterThatCannotBeKeptHoldsTheOffset() {
        String topic = kafka.newTopic(1);
        AtomicInteger tries = new AtomicInteger();
        producer.send(new ProducerRecord<>(topic, TestKafka.bytes("no key")));
        send(topic, List.of("m0"));
        DeadLetters flaky = letter -> {
            assertThat(kafka.committed(group, topic)).isZero();
            if (tries.incrementAndGet() < 2) {
                throw new IllegalStateException("broker is away");
            }
            return CompletableFuture.completedFuture(letter);
        };
        try (KafkaConsumerLoop loop = loop(topic, consumer()).deadLetters(flaky).start()) {
            awaitCommitted(topic, 2);
        }
        assertThat(tries).hasValue(2);
        assertThat(handled).containsExactly("m0");
    }

    @Test
    void loopWithoutLettersStopsAtTheRejectedRecord() {
        String topic = kafka.newTopic(1);
        send(topic, List.of("m0"));
        producer.send(new ProducerRecord<>(topic, TestKafka.bytes("no key")));
        send(topic, List.of("m1"));
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
    void failedRecordIsRetriedBeforeThoseBehindIt() {
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
                        assertThat(others.await(60, TimeUnit.SECONDS)).isTrue();
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
    void recordInProgressElsewhereIsWaitedFor() throws Exception {
        String topic = kafka.newTopic(1);
        CountDownLatch release = new CountDownLatch(1);
        CountDownLatch running = new CountDownLatch(1);
        try (Hapax other = newHapax()) {
            var elsewhere = builder(other).handling((record, lease) -> {
                running.countDown();
                release.await();
            });
            ExecutorService threads = Executors.newSingleThreadExecutor();
            var end = elsewhere.consume(
                    new ConsumerRecord<>(topic, 0, 0, TestKafka.bytes("m0"), TestKafka.bytes("m0")), threads);
            running.await();
            send(topic, List.of("m0"));
            send(topic, List.of("m1"));
            try (KafkaConsumerLoop loop = loop(topic, consumer()).start()) {
                await().until(() -> claimsRefused.get() >= 2);
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
    void slowHandlersKeepTheirPartition() {
        String topic = kafka.newTopic(1);
        send(topic, List.of("m0"));
        send(topic, List.of("m1"));
        Map<String, Object> settings = settings();
        settings.put("max.poll.interval.ms", 1_000);
        IdempotentConsumer<ConsumerRecord<byte[], byte[]>> slow = builder(hapax).handling((record, lease) -> {
            TimeUnit.MILLISECONDS.sleep(1_500);
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
    void closeCommitsWhatRunsAndReleasesTheRest() throws Exception {
        String topic = kafka.newTopic(1);
        send(topic, names(20));
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        IdempotentConsumer<ConsumerRecord<byte[], byte[]>> first = builder(hapax)
                .handling((record, lease) -> {
                    begun.countDown();
                    end.await();
                    handled.add(key(record));
                });
        KafkaConsumerLoop closing =
                loop(topic, first).handOver(Duration.ofMinutes(1)).start();
        begun.await();
        await().until(() -> names(20).stream().allMatch(this::isProcessing));
        Thread close = new Thread(closing::close);
        close.start();
        await().until(() -> names(1, 20).stream().noneMatch(this::isProcessing));
        end.countDown();
        close.join();
        assertThat(handled).hasSize(1);
        assertThat(kafka.committed(group, topic)).isEqualTo(handled.size());
        long inFlight = names(20).stream().filter(this::isProcessing).count();
        assertThat(inFlight).isZero();
        try (KafkaConsumerLoop loop = loop(topic, consumer()).start()) {
            awaitCommitted(topic, 20);
        }
        assertThat(handled).isEqualTo(names(20));
    }

    @Test
    void keysRunInParallelIfOnlyTheyAreOrdered() {
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
                    together.await(60, TimeUnit.SECONDS);
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
    void outboxMessagesAreHandledOnceByTheirId() {
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
    void settingsThatLoseMessagesAreRefused() {
        Map<String, Object> settings = settings();
        settings.put("enable.auto.commit", "true");
        assertThatThrownBy(() -> KafkaConsumerLoop.of(settings, consumer()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("enable.auto.commit");
        assertThatThrownBy(() ->
                        KafkaConsumerLoop.of(settings(), consumer()).topics("t").start())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("deadLetters");
    }

    private boolean isProcessing(String name) {
        return hapax.find(new OperationKey("", "mailer", name).id())
                .toCompletableFuture()
                .join()
                .filter(found -> found.state() == State.PROCESSING)
                .isPresent();
    }

    private static Map<String, String> headers(ConsumerRecord<byte[], byte[]> record) {
        Map<String, String> headers = new HashMap<>();
        record.headers().forEach(it -> headers.put(it.key(), new String(it.value(), StandardCharsets.UTF_8)));
        return headers;
    }

    private List<ConsumerRecord<byte[], byte[]>> readAll(String topic, int count) {
        List<ConsumerRecord<byte[], byte[]>> all = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> reader = new KafkaConsumer<>(
                kafka.consumer("reader-" + topic, protocol),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer())) {
            reader.assign(List.of(TestKafka.partition(topic, 0)));
            reader.seekToBeginning(reader.assignment());
            await().until(() -> {
                reader.poll(Duration.ofMillis(200)).forEach(all::add);
                return all.size() >= count;
            });
        }
        return all;
    }
}
