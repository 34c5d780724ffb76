package dev.hapax.messaging.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.outbox.OutboxMessage;
import dev.hapax.outbox.Outgoing;
import dev.hapax.outbox.PublishResult;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class KafkaPublisherTest {
    private static final Duration TIMEOUT = Duration.ofMinutes(5);

    /** Its sends to topics that begin with "missing" block until it is told otherwise. */
    private static final class BlockingProducer extends MockProducer<byte[], byte[]> {
        final CountDownLatch unblocked = new CountDownLatch(1);
        final CountDownLatch blocked = new CountDownLatch(1);
        final AtomicInteger blockedSends = new AtomicInteger();

        BlockingProducer() {
            super(true, null, new ByteArraySerializer(), new ByteArraySerializer());
        }

        @Override
        @SuppressWarnings("UnsynchronizedOverridesSynchronized") // a blocked send must not block the others
        public Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record, Callback callback) {
            if (record.topic().startsWith("missing")) {
                blockedSends.incrementAndGet();
                blocked.countDown();
                awaitUnblocked();
                TimeoutException error = new TimeoutException("not in the metadata");
                callback.onCompletion(null, error);
                return CompletableFuture.failedFuture(error);
            }
            return super.send(record, callback);
        }

        private void awaitUnblocked() {
            try {
                unblocked.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void close() {
            unblocked.countDown();
            super.close();
        }
    }

    private static Outgoing outgoing(String topic, Duration timeout) {
        return new Outgoing(OutboxMessage.to(topic, new byte[0]), Instant.now(), 1, timeout);
    }

    private static List<CompletableFuture<PublishResult>> publish(KafkaPublisher publisher, List<Outgoing> messages) {
        List<CompletableFuture<PublishResult>> results = new ArrayList<>();
        publisher.publish(messages).forEach(it -> results.add(it.toCompletableFuture()));
        return results;
    }

    private static void assertPublished(List<CompletableFuture<PublishResult>> results) {
        assertThat(results)
                .allSatisfy(it -> assertThat(it.get(60, TimeUnit.SECONDS)).isEqualTo(PublishResult.published()));
    }

    @Test
    void blockedTopicDelaysNoOtherTopic() {
        BlockingProducer producer = new BlockingProducer();
        try (KafkaPublisher publisher = KafkaPublisher.over(producer)) {
            List<CompletableFuture<PublishResult>> missing = publish(
                    publisher,
                    IntStream.range(0, 100)
                            .mapToObj(i -> outgoing("missing", TIMEOUT))
                            .toList());
            assertPublished(publish(publisher, List.of(outgoing("good", TIMEOUT), outgoing("better", TIMEOUT))));

            assertThat(missing).noneMatch(CompletableFuture::isDone);
        }
        assertThat(producer.history()).hasSize(2);
    }

    /** Otherwise each would wait for as long as the first one, one after the other. */
    @Test
    void messagesBehindBlockedOneFailWithIt() throws Exception {
        BlockingProducer producer = new BlockingProducer();
        try (KafkaPublisher publisher = KafkaPublisher.over(producer)) {
            List<CompletableFuture<PublishResult>> missing = publish(
                    publisher,
                    IntStream.range(0, 100)
                            .mapToObj(i -> outgoing("missing", TIMEOUT))
                            .toList());
            producer.blocked.await();
            producer.unblocked.countDown();

            assertThat(missing)
                    .allSatisfy(
                            it -> assertThat(it.get(60, TimeUnit.SECONDS)).isInstanceOf(PublishResult.Failed.class));
            assertThat(producer.blockedSends).hasValue(1);
        }
    }

    /** However many topics are missing: those that have been sent to before have threads of their own. */
    @Test
    void manyBlockedTopicsDelayNoKnownTopic() {
        try (KafkaPublisher publisher = KafkaPublisher.over(new BlockingProducer())) {
            assertPublished(publish(publisher, List.of(outgoing("good", TIMEOUT))));
            publish(
                    publisher,
                    IntStream.range(0, 100)
                            .mapToObj(i -> outgoing("missing-" + i, TIMEOUT))
                            .toList());

            assertPublished(publish(publisher, List.of(outgoing("good", TIMEOUT))));
        }
    }

    /** The relay has given up on it and sends it again: sending the old copy as well would be a duplicate. */
    @Test
    void messagePastItsTimeoutIsNotSent() throws Exception {
        BlockingProducer producer = new BlockingProducer();
        try (KafkaPublisher publisher = KafkaPublisher.over(producer)) {
            CompletableFuture<PublishResult> late = publish(publisher, List.of(outgoing("good", Duration.ofNanos(1))))
                    .get(0);

            assertThat(late.get(60, TimeUnit.SECONDS)).isInstanceOf(PublishResult.Failed.class);
            assertThat(producer.history()).isEmpty();
        }
    }

    /** They would occupy the threads of those that are. */
    @Test
    void topicOfUnsentMessageIsNotTakenForReachable() {
        try (KafkaPublisher publisher = KafkaPublisher.over(new BlockingProducer())) {
            assertPublished(publish(publisher, List.of(outgoing("good", TIMEOUT))));
            List<CompletableFuture<PublishResult>> expired = publish(publisher, missing(Duration.ofNanos(1)));
            assertThat(expired)
                    .allSatisfy(
                            it -> assertThat(it.get(60, TimeUnit.SECONDS)).isInstanceOf(PublishResult.Failed.class));
            publish(publisher, missing(TIMEOUT));

            assertPublished(publish(publisher, List.of(outgoing("good", TIMEOUT))));
        }
    }

    private static List<Outgoing> missing(Duration timeout) {
        return IntStream.range(0, 100)
                .mapToObj(i -> outgoing("missing-" + i, timeout))
                .toList();
    }

    /** A message that the producer may deliver after the relay's timeout is a duplicate. */
    @Test
    void messageIsNotSentWithTooLittleTimeLeft() {
        Duration timeout = Duration.ofSeconds(10);

        assertThat(KafkaPublisher.longestWait(timeout, Duration.ZERO)).isEqualTo(timeout);
        assertThat(KafkaPublisher.longestWait(timeout, Duration.ofSeconds(4))).isEqualTo(Duration.ofSeconds(6));
        assertThat(KafkaPublisher.longestWait(timeout, Duration.ofMinutes(3))).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void messagesToBlockedTopicFailOnClose() throws Exception {
        BlockingProducer producer = new BlockingProducer();
        List<CompletableFuture<PublishResult>> missing;
        try (KafkaPublisher publisher = KafkaPublisher.over(producer)) {
            missing = publish(publisher, List.of(outgoing("missing", TIMEOUT), outgoing("missing", TIMEOUT)));
            producer.blocked.await();
        }
        assertThat(missing)
                .allSatisfy(it -> assertThat(it.get(60, TimeUnit.SECONDS)).isInstanceOf(PublishResult.Failed.class));
    }

    /** Kafka refuses to create a topic whose name differs from another one's by dot and underscore only. */
    @Test
    void missingTopicDelaysNoOtherTopic() {
        TestKafka kafka = TestKafka.shared();
        String good = kafka.newTopic(1) + "_good";
        kafka.newTopic(good, 1);
        String missing = good.replace('_', '.');
        Map<String, Object> settings = Map.of("bootstrap.servers", kafka.bootstrapServers());
        try (KafkaPublisher publisher = KafkaPublisher.of(settings, TIMEOUT)) {
            List<Outgoing> messages = new ArrayList<>();
            IntStream.range(0, 20).forEach(i -> messages.add(outgoing(missing, TIMEOUT)));
            List<CompletableFuture<PublishResult>> blocked = publish(publisher, messages);
            assertPublished(publish(
                    publisher,
                    IntStream.range(0, 20)
                            .mapToObj(i -> outgoing(good, TIMEOUT))
                            .toList()));

            assertThat(blocked).noneMatch(CompletableFuture::isDone);
        }
        assertThat(kafka.size(good)).as("messages on the good topic").isEqualTo(20);
    }

    @Test
    void producerGivesUpBeforeRelay() {
        Map<String, Object> settings = KafkaPublisher.settings(
                Map.of("request.timeout.ms", "500", "max.block.ms", 60_000), Duration.ofSeconds(10));

        assertThat(settings)
                .containsEntry("max.block.ms", 3_000)
                .containsEntry("delivery.timeout.ms", 6_000)
                .containsEntry("request.timeout.ms", 500)
                .containsEntry("acks", "all");
        assertThat(KafkaPublisher.settings(Map.of("linger.ms", 5_000), Duration.ofSeconds(10)))
                .as("delivery.timeout.ms must be at least linger.ms and request.timeout.ms together")
                .containsEntry("request.timeout.ms", 1_000);
        KafkaPublisher.of(Map.of("bootstrap.servers", "127.0.0.1:1", "linger.ms", "20"), Duration.ofSeconds(1))
                .close();
    }
}
