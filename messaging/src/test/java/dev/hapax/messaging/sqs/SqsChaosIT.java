package dev.hapax.messaging.sqs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.messaging.queues.Chaos;
import dev.hapax.messaging.queues.Chaos.Plan;
import dev.hapax.messaging.queues.Ledger.Mode;
import dev.hapax.messaging.queues.TestDatabase;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(900)
class SqsChaosIT {
    private static final int IN_ORDER =
            Integer.getInteger("hapax.messages", 300); // groups are slow: one message at a time
    private static final int GROUPS = 20;

    private final TestDatabase database = TestDatabase.create();
    private final ElasticMq sqs = ElasticMq.shared();

    @Test
    void transactionalEffectsHappenOnceAndInOrder() throws Exception {
        chaos(sqs.newFifoQueue(), sqs.newFifoQueue(), Mode.TRANSACTIONAL, IN_ORDER);
        assertThat(database.keysWithEffects()).isEqualTo(IN_ORDER);
        assertThat(database.effects()).isEqualTo(IN_ORDER);
        assertThat(database.queryLong("""
                SELECT count(*) FROM (
                  SELECT number, lag(number) OVER (PARTITION BY number %% %d ORDER BY at) AS before
                  FROM (SELECT substr(key, 2)::int AS number, at FROM ledger) AS numbers) AS pairs
                WHERE number < before""".formatted(GROUPS))).isZero();
    }

    @Test
    void leasedEffectsHappenAtMostOncePerAttempt() throws Exception {
        chaos(sqs.newQueue(), sqs.newQueue(), Mode.LEASED, Chaos.MESSAGES);
        assertThat(database.keysWithEffects()).isEqualTo(Chaos.MESSAGES);
        assertThat(database.attemptsWithTwoEffects()).isZero();
    }

    private void chaos(String queue, String dead, Mode mode, int messages) throws Exception {
        sqs.sendAll(queue, Chaos.sends(messages), GROUPS);
        List<String> arguments = List.of("" + sqs.port(), queue, dead);
        new Chaos(SqsWorker.class, new Plan(messages, mode, arguments), database).run(() -> sqs.size(queue) == 0);
        assertThat(sqs.size(dead)).isZero();
    }
}
