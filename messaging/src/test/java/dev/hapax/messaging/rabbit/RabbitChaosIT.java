package dev.hapax.messaging.rabbit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.messaging.queues.Chaos;
import dev.hapax.messaging.queues.Chaos.Plan;
import dev.hapax.messaging.queues.Ledger.Mode;
import dev.hapax.messaging.queues.TestDatabase;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(900)
class RabbitChaosIT {
    private final TestDatabase database = TestDatabase.create();

    @Test
    void transactionalEffectsHappenExactlyOnce() throws Exception {
        chaos(QpidBroker.shared(), Mode.TRANSACTIONAL, Map.of());
        assertThat(database.keysWithEffects()).isEqualTo(Chaos.MESSAGES);
        assertThat(database.effects()).isEqualTo(Chaos.MESSAGES);
    }

    @Test
    void leasedEffectsHappenAtMostOncePerAttempt() throws Exception {
        chaos(RabbitMqServer.sharedOrSkip(), Mode.LEASED, Map.of("x-queue-type", "quorum"));
        assertThat(database.keysWithEffects()).isEqualTo(Chaos.MESSAGES);
        assertThat(database.attemptsWithTwoEffects()).isZero();
    }

    private void chaos(Broker broker, Mode mode, Map<String, Object> arguments) throws Exception {
        String queue = broker.newQueue(arguments);
        broker.declare(queue + ".dead", Map.of());
        broker.call(channel -> {
            channel.confirmSelect();
            for (int message : Chaos.sends(Chaos.MESSAGES)) {
                Broker.publish(channel, queue, "m" + message, "body of " + message);
            }
            return channel.waitForConfirms(60_000);
        });
        List<String> process = List.of("" + broker.port(), queue);
        new Chaos(RabbitWorker.class, new Plan(Chaos.MESSAGES, mode, process), database)
                .run(() -> broker.waiting(queue) == 0);
        assertThat(broker.waiting(queue + ".dead")).isZero();
    }
}
