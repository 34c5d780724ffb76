package dev.hapax.messaging.rabbit;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.GetResponse;
import dev.hapax.outbox.OutboxMessage;
import dev.hapax.outbox.Outgoing;
import dev.hapax.outbox.PublishResult;
import dev.hapax.outbox.PublishResult.Failed;
import dev.hapax.outbox.PublishResult.Published;
import dev.hapax.outbox.PublishResult.Refused;
import dev.hapax.testkit.fault.FaultProxy;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class RabbitPublisherTest {
    private final Broker broker = QpidBroker.shared();
    private final String queue = broker.newQueue();

    private static Outgoing outgoing(String topic, String body) {
        OutboxMessage message = OutboxMessage.to(topic, body.getBytes(StandardCharsets.UTF_8))
                .aggregate("order-42")
                .header("type", "OrderPlaced")
                .header("content-type", "text/plain");
        return new Outgoing(message, Instant.now(), 1, Duration.ofSeconds(30));
    }

    private static List<PublishResult> publish(RabbitPublisher publisher, Outgoing... messages) {
        return publisher.publish(List.of(messages)).stream()
                .map(RabbitPublisherTest::result)
                .toList();
    }

    private static PublishResult result(CompletionStage<PublishResult> stage) {
        try {
            return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aPublishedMessageIsInTheQueueWithItsIdAndHeaders() {
        Outgoing message = outgoing(queue, "hello");
        try (RabbitPublisher publisher = RabbitPublisher.toQueues(broker.factory())) {
            assertThat(publish(publisher, message)).containsExactly(new Published());
        }
        GetResponse got = broker.take(queue);
        assertThat(got.getBody()).isEqualTo("hello".getBytes(StandardCharsets.UTF_8));
        assertThat(got.getProps().getMessageId())
                .isEqualTo(message.message().id().toString());
        assertThat(got.getProps().getContentType()).isEqualTo("text/plain");
        assertThat(got.getProps().getHeaders().get("type")).hasToString("OrderPlaced");
        assertThat(got.getProps().getHeaders().get(Outgoing.AGGREGATE_HEADER)).hasToString("order-42");
    }

    @Test
    void whatNoQueueTakesHasFailedAndItsNeighboursHaveNot() {
        try (RabbitPublisher publisher = RabbitPublisher.toQueues(broker.factory())) {
            List<PublishResult> results =
                    publish(publisher, outgoing(queue, "1"), outgoing("nowhere", "2"), outgoing(queue, "3"));
            assertThat(results.get(0)).isInstanceOf(Published.class);
            assertThat(results.get(1)).isInstanceOf(Failed.class);
            assertThat(results.get(2)).isInstanceOf(Published.class);
        }
        assertThat(broker.waiting(queue)).isEqualTo(2);
    }

    /** Sent, each of them would close the channel and fail what is in flight. */
    @Test
    void messageThatWouldCloseChannelIsRefusedAlone() {
        try (RabbitPublisher publisher =
                RabbitPublisher.toExchange(RabbitConnections.of(broker.factory()), "", 1_000)) {
            List<PublishResult> results = publish(
                    publisher,
                    outgoing(queue, "1"),
                    withHeader(queue, "content-type", "x".repeat(256)),
                    withHeader(queue, "large", "x".repeat(200_000)),
                    outgoing(queue, "x".repeat(1_001)),
                    outgoing(queue, "2"));

            assertThat(results.get(0)).isInstanceOf(Published.class);
            assertThat(results.subList(1, 4)).allSatisfy(it -> assertThat(it).isInstanceOf(Refused.class));
            assertThat(results.get(4)).isInstanceOf(Published.class);
        }
        assertThat(broker.waiting(queue)).isEqualTo(2);
    }

    private static Outgoing withHeader(String topic, String name, String value) {
        OutboxMessage message = OutboxMessage.to(topic, new byte[0]).header(name, value);
        return new Outgoing(message, Instant.now(), 1, Duration.ofSeconds(30));
    }

    @Test
    void aTopicThatCannotBeARoutingKeyIsRefused() {
        try (RabbitPublisher publisher = RabbitPublisher.toQueues(broker.factory())) {
            assertThat(publish(publisher, outgoing("ü".repeat(200), "1")).get(0))
                    .isInstanceOf(Refused.class);
        }
    }

    @Test
    void whileTheBrokerCannotBeReachedMessagesFailAndAfterwardsTheyArrive() throws Exception {
        try (FaultProxy proxy = FaultProxy.to("127.0.0.1", broker.port());
                RabbitPublisher publisher = RabbitPublisher.toQueues(Broker.factory(proxy.port()))) {
            assertThat(publish(publisher, outgoing(queue, "1"))).containsExactly(new Published());
            proxy.refuse();
            proxy.cut();
            List<PublishResult> down = publish(publisher, outgoing(queue, "2"), outgoing(queue, "3"));
            assertThat(down).hasSize(2).allSatisfy(it -> assertThat(it).isInstanceOf(Failed.class));
            proxy.accept();
            assertThat(publish(publisher, outgoing(queue, "4"))).containsExactly(new Published());
        }
        assertThat(broker.waiting(queue)).isEqualTo(2);
    }

    /** The relay has given up on it and sends it again: sending the old copy as well would be a duplicate. */
    @Test
    void messagePastItsTimeoutIsNotSent() {
        CountDownLatch opens = new CountDownLatch(1);
        RabbitConnections slow = () -> {
            try {
                opens.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            return RabbitConnections.of(broker.factory()).open();
        };
        OutboxMessage late = outgoing(queue, "late").message();
        try (RabbitPublisher publisher = RabbitPublisher.toExchange(slow, "")) {
            CompletionStage<PublishResult> first =
                    publisher.publish(List.of(outgoing(queue, "first"))).get(0);
            assertThat(publish(publisher, new Outgoing(late, Instant.now(), 1, Duration.ofMillis(1)))
                            .get(0))
                    .isInstanceOf(Failed.class);
            opens.countDown();
            assertThat(result(first)).isEqualTo(new Published());
            assertThat(publish(publisher, outgoing(queue, "last"))).containsExactly(new Published());
        }
        assertThat(broker.waiting(queue)).as("first and last").isEqualTo(2);
    }

    @Test
    void manyMessagesAreConfirmedTogether() {
        Outgoing[] many = IntStream.range(0, 1_000)
                .mapToObj(i -> outgoing(queue, "m" + i))
                .toArray(Outgoing[]::new);
        try (RabbitPublisher publisher = RabbitPublisher.toQueues(broker.factory())) {
            assertThat(publish(publisher, many)).hasSize(1_000).containsOnly(new Published());
        }
        assertThat(broker.waiting(queue)).isEqualTo(1_000);
    }

    @Test
    void aClosedPublisherFailsWhatItIsGiven() {
        RabbitPublisher publisher = RabbitPublisher.toQueues(broker.factory());
        publisher.close();
        publisher.close();
        assertThat(publish(publisher, outgoing(queue, "1")).get(0)).isInstanceOf(Failed.class);
    }
}
