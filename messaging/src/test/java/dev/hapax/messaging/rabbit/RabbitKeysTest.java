package dev.hapax.messaging.rabbit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.GetResponse;
import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.messaging.queues.ConsumerFixture;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which messages are the same one, as their senders say it. */
@Timeout(60)
class RabbitKeysTest {
    private final ConsumerFixture<RabbitMessage> work = RabbitConsumerContract.fixture();
    private final Broker broker = QpidBroker.shared();
    private final String queue = broker.newQueue();
    private final String dead = broker.declare(queue + ".dead", Map.of());

    @AfterEach
    void close() throws Exception {
        work.close();
    }

    private void start(IdempotentConsumer<RabbitMessage> consumer) {
        work.closing(RabbitConsumerLoop.of(broker.factory(), consumer)
                .queue(queue)
                .deadLetters(DeadLetters.toQueue(dead))
                .start());
    }

    private IdempotentConsumer<RabbitMessage> keyedByHeader() {
        return work.consumer((message, lease) -> {}, it -> it.key(RabbitMessages.header("order")));
    }

    @Test
    void textInAHeaderIsAKey() {
        publishWithHeader("order-7", "x");
        publishWithHeader("order-7", "x");
        start(keyedByHeader());

        await().until(() -> work.observed.replayed.get() + work.handled.size() == 2);
        assertThat(work.handled).containsExactly("x");
    }

    @Test
    void bytesInAHeaderAreAKey() {
        byte[] order = "order-7".getBytes(StandardCharsets.UTF_8);
        publishWithHeader(order, "x");
        publishWithHeader(order, "x");
        start(keyedByHeader());

        await().until(() -> work.observed.replayed.get() + work.handled.size() == 2);
        assertThat(work.handled).containsExactly("x");
    }

    @Test
    void numberInTheBodyIsAKey() {
        broker.send(queue, null, "{\"order\": {\"id\": 7}}");
        broker.send(queue, null, "{\"order\": {\"id\": 7}}");
        start(work.consumer((message, lease) -> {}, it -> it.key(RabbitMessages.payload("/order/id"))));

        await().until(() -> work.observed.replayed.get() + work.handled.size() == 2);
        assertThat(work.handled).hasSize(1);
    }

    @Test
    void messageWithoutAKeyIsRejected() {
        broker.send(queue, "id", "no header");
        start(keyedByHeader());

        assertThat(awaitReason()).contains("no key");
        assertThat(work.handled).isEmpty();
    }

    @Test
    void listInAHeaderIsRejected() {
        publishWithHeader(List.of("order-7"), "x");
        start(keyedByHeader());

        assertThat(awaitReason()).contains("\"order\"", "List");
        assertThat(work.handled).isEmpty();
    }

    @Test
    void sameIdWithAnotherBodyIsRejected() {
        start(work.consumer((message, lease) -> {}));
        broker.send(queue, "a", "first");
        await().untilAsserted(() -> assertThat(work.handled).containsExactly("first"));
        broker.send(queue, "a", "second");

        assertThat(awaitReason()).contains("other content");
        assertThat(work.handled).containsExactly("first");
    }

    private String awaitReason() {
        GetResponse letter = await().until(() -> broker.take(dead), Objects::nonNull);
        return letter.getProps().getHeaders().get(DeadLetters.REASON).toString();
    }

    private void publishWithHeader(Object order, String body) {
        broker.call(channel -> {
            BasicProperties properties = new BasicProperties.Builder()
                    .headers(Map.of("order", order))
                    .build();
            channel.basicPublish("", queue, properties, body.getBytes(StandardCharsets.UTF_8));
            return channel;
        });
    }
}
