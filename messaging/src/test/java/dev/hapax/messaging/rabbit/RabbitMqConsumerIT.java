package dev.hapax.messaging.rabbit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.GetResponse;
import dev.hapax.TerminalFailure;
import dev.hapax.messaging.Backoff;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The same against the real RabbitMQ, and what only it has: cancelled consumers, dead-letter exchanges, quorum queues.
 */
class RabbitMqConsumerIT extends RabbitConsumerContract {

    @BeforeAll
    static void skipUnlessInstalled() {
        RabbitMqServer.sharedOrSkip();
    }

    @Override
    Broker broker() {
        return RabbitMqServer.sharedOrSkip();
    }

    @Test
    void loopWaitsForADeletedQueue() {
        RabbitConsumerLoop loop = start(loop((message, lease) -> {}));
        await().until(loop::isConsuming);
        broker.call(channel -> channel.queueDelete(queue));
        await().until(() -> !loop.isConsuming());
        broker.declare(queue, Map.of());
        broker.send(queue, "a");

        await().untilAsserted(() -> assertThat(work.handled).containsExactly("a"));
    }

    @Test
    void rejectedMessageGoesToTheDeadLetterExchange() {
        String dead = broker.newQueue();
        String mine = broker.newQueue(Map.of("x-dead-letter-exchange", "", "x-dead-letter-routing-key", dead));
        broker.send(mine, "a");
        start(loop((message, lease) -> {
                    throw new TerminalFailure(422, "no such customer");
                })
                .queue(mine)
                .deadLetters(DeadLetters.byBroker()));

        await().until(() -> broker.waiting(dead) == 1);
        GetResponse letter = broker.take(dead);
        assertThat(letter.getProps().getMessageId()).isEqualTo("a");
        assertThat(letter.getProps().getHeaders()).containsKey("x-death");
        assertThat(broker.waiting(mine)).isZero();
    }

    @Test
    void deadLetterIsNotCopiedToCcQueues() throws Exception {
        broker.declare(queue + ".dead", Map.of());
        String copies = broker.newQueue();
        broker.call(channel -> {
            BasicProperties properties = new BasicProperties.Builder()
                    .messageId("a")
                    .userId("guest")
                    .expiration("600000")
                    .headers(Map.of("CC", List.of(copies)))
                    .build();
            channel.basicPublish("", queue, properties, new byte[] {1});
            return channel;
        });
        start(loop((message, lease) -> {
            throw new TerminalFailure(422, "no such customer");
        }));

        await().until(() -> broker.waiting(queue + ".dead") == 1);
        assertThat(broker.waiting(copies)).isEqualTo(1);
        BasicProperties letter = broker.take(queue + ".dead").getProps();
        assertThat(letter.getExpiration()).isNull();
        assertThat(letter.getUserId()).isNull();
    }

    @Test
    void delayQueueHoldsLongDelays() {
        String delay = broker.newQueue(Map.of("x-dead-letter-exchange", "", "x-dead-letter-routing-key", queue));
        List<String> tries = new CopyOnWriteArrayList<>();
        broker.send(queue, "a");
        start(loop(work.consumer(
                        (message, lease) -> {
                            tries.add(lease.attempt() + (isDelayed(message) ? " delayed" : ""));
                            if (lease.attempt() < 3) {
                                throw new IllegalStateException("not yet");
                            }
                        },
                        it -> it.backoff(new Backoff(Duration.ofMillis(500), Duration.ofMillis(500)))))
                .delayQueue(delay, Duration.ofMillis(100)));

        await().untilAsserted(() -> assertThat(work.handled).containsExactly("a"));
        assertThat(tries).containsExactly("1", "2 delayed", "3 delayed");
        await().until(() -> broker.waiting(queue) == 0 && broker.waiting(delay) == 0);
    }

    private static boolean isDelayed(RabbitMessage message) {
        Map<String, Object> headers = message.properties().getHeaders();
        return headers != null && headers.containsKey("x-death");
    }

    @Test
    void redeliveryOfAQuorumQueueIsNotHandled() throws Exception {
        String quorum = broker.newQueue(Map.of("x-queue-type", "quorum"));
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch finish = new CountDownLatch(1);
        RabbitConsumerLoop first = start(loop((message, lease) -> {
                    begun.countDown();
                    finish.await();
                })
                .queue(quorum)
                .handOver(Duration.ZERO));
        broker.send(quorum, "a");
        begun.await();
        first.close();
        RabbitConsumerLoop second = start(loop((message, lease) -> {}).queue(quorum));
        finish.countDown();

        await().until(() -> work.observed.replayed.get() == 1);
        second.close();
        assertThat(work.handled).containsExactly("a");
        assertThat(broker.waiting(quorum)).isZero();
    }

    @Test
    void heldMessageDoesNotUseUpTheDeliveryLimit() {
        String dead = broker.newQueue();
        String quorum = broker.newQueue(Map.of(
                "x-queue-type",
                "quorum",
                "x-delivery-limit",
                1,
                "x-dead-letter-exchange",
                "",
                "x-dead-letter-routing-key",
                dead));
        broker.send(quorum, "a");
        start(loop((message, lease) -> {
                    if (lease.attempt() < 5) {
                        throw new IllegalStateException("not yet");
                    }
                })
                .queue(quorum));

        await().untilAsserted(() -> assertThat(work.handled).containsExactly("a"));
        await().until(() -> broker.waiting(quorum) == 0);
        assertThat(broker.waiting(dead)).isZero();
    }

    @Test
    void closeKeepsTheOrderOfAPrefetchOfOne() {
        String quorum = broker.newQueue(Map.of("x-queue-type", "quorum"));
        CountDownLatch tried = new CountDownLatch(1);
        broker.send(quorum, "m0");
        broker.send(quorum, "m1");
        RabbitConsumerLoop loop = start(loop((message, lease) -> {
                    tried.countDown();
                    throw new IllegalStateException("not yet");
                })
                .queue(quorum)
                .prefetch(1));
        await().until(() -> tried.getCount() == 0);
        loop.close();

        assertThat(broker.take(quorum).getProps().getMessageId()).isEqualTo("m0");
    }

    @Test
    void deliveryLimitDeadLettersTheMessage() {
        String dead = broker.newQueue();
        String quorum = broker.newQueue(Map.of(
                "x-queue-type",
                "quorum",
                "x-delivery-limit",
                2,
                "x-dead-letter-exchange",
                "",
                "x-dead-letter-routing-key",
                dead));
        broker.send(quorum, "a");
        start(loop(work.consumer(
                        (message, lease) -> {
                            throw new IllegalStateException("always");
                        },
                        it -> it.backoff(new Backoff(Duration.ofHours(1), Duration.ofHours(1)))))
                .queue(quorum)
                .longestHold(Duration.ofMillis(100)));

        await().until(() -> broker.waiting(dead) == 1);
        assertThat(broker.take(dead).getProps().getMessageId()).isEqualTo("a");
    }
}
