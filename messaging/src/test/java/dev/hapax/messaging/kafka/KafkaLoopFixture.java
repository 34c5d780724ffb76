package dev.hapax.messaging.kafka;

import dev.hapax.Hapax;
import dev.hapax.HapaxListener;
import dev.hapax.Policy;
import dev.hapax.memory.MemoryStore;
import dev.hapax.messaging.Backoff;
import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.store.OperationKey;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.GroupProtocol;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;

/** What the tests of the loop share: a broker, a producer, an engine, and a group of their own. */
abstract class KafkaLoopFixture {
    static final TestKafka kafka = TestKafka.shared();
    static final KafkaProducer<byte[], byte[]> producer = kafka.producer();

    final GroupProtocol protocol;
    final String group = "g-" + UUID.randomUUID();
    final AtomicInteger claimsRefused = new AtomicInteger();
    final List<String> handled = new CopyOnWriteArrayList<>();
    private final MemoryStore store = new MemoryStore();
    final Hapax hapax = newHapax();

    KafkaLoopFixture(GroupProtocol protocol) {
        this.protocol = protocol;
    }

    @AfterEach
    void closeHapax() {
        hapax.close();
    }

    /** Another engine on the same store, as another process has one. */
    final Hapax newHapax() {
        return Hapax.on(store)
                .scope("mailer", Policy.defaults().maxAttempts(1000))
                .listener(new HapaxListener() {
                    @Override
                    public void inProgress(OperationKey key) {
                        claimsRefused.incrementAndGet();
                    }
                })
                .build();
    }

    static IdempotentConsumer.Builder<ConsumerRecord<byte[], byte[]>> builder(Hapax hapax) {
        return KafkaMessages.consumer("mailer", hapax)
                .key(KafkaMessages.recordKey())
                .backoff(new Backoff(Duration.ofMillis(50), Duration.ofSeconds(1)));
    }

    final IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer() {
        return builder(hapax).handling((record, lease) -> handled.add(key(record)));
    }

    final Map<String, Object> settings() {
        return kafka.consumer(group, protocol);
    }

    final KafkaConsumerLoop.Builder loop(String topic, IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer) {
        return loop(topic, settings(), consumer);
    }

    static KafkaConsumerLoop.Builder loop(
            String topic, Map<String, Object> settings, IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer) {
        return KafkaConsumerLoop.of(settings, consumer).topics(topic).deadLetters(DeadLetters.stopping());
    }

    static KafkaConsumerLoop.Builder loop(
            String topic,
            Consumer<byte[], byte[]> kafkaConsumer,
            IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer) {
        return KafkaConsumerLoop.over(kafkaConsumer, consumer).topics(topic).deadLetters(DeadLetters.stopping());
    }

    static void send(String topic, List<String> names) {
        names.forEach(name -> producer.send(TestKafka.record(topic, name, name)));
        producer.flush();
    }

    final void awaitCommitted(String topic, long offset) {
        await().pollInterval(Duration.ofMillis(50)).until(() -> kafka.committed(group, topic) == offset);
    }

    static ConditionFactory await() {
        return Awaitility.await().atMost(TestKafka.patience()).pollDelay(Duration.ZERO);
    }

    static List<String> names(int count) {
        return names(0, count);
    }

    static List<String> names(int from, int to) {
        return IntStream.range(from, to).mapToObj(i -> "m" + i).toList();
    }

    static String key(ConsumerRecord<byte[], byte[]> record) {
        return TestKafka.key(record);
    }
}
