package dev.hapax.messaging.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.messaging.queues.TestDatabase;
import dev.hapax.postgres.PostgresStore;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a poll costs in statements, as PostgreSQL counts them. */
@Timeout(120)
class PollCostIT {
    private static final int RECORDS = 500;
    private static final String CLAIMS = "SELECT coalesce(sum(calls), 0) FROM pg_stat_statements"
            + " WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND query LIKE '%INSERT INTO hapax_operation%'";

    @Test
    void pollOfFreshRecordsIsClaimedInTwoStatements() throws Exception {
        TestKafka kafka = TestKafka.shared();
        TestDatabase database = TestDatabase.create();
        try (HikariDataSource pool = database.pool(8);
                Hapax hapax = Hapax.on(PostgresStore.over(pool))
                        .scope("cost", Policy.defaults())
                        .withoutSweeper()
                        .build()) {
            database.execute("CREATE EXTENSION pg_stat_statements");
            String topic = kafka.newTopic(1);
            String group = "group-of-" + topic;
            produce(kafka, topic);
            database.execute("SELECT pg_stat_statements_reset()");
            CountDownLatch handled = new CountDownLatch(RECORDS);
            try (KafkaConsumerLoop loop = KafkaConsumerLoop.of(
                            kafka.consumer(group),
                            KafkaMessages.consumer("cost", hapax)
                                    .key(KafkaMessages.recordKey())
                                    .handling((record, lease) -> handled.countDown()))
                    .topics(topic)
                    .deadLetters(DeadLetters.stopping())
                    .start()) {
                assertThat(handled.await(60, TimeUnit.SECONDS)).isTrue();
                Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> kafka.committed(group, topic) == RECORDS);
            }
            long claims = database.queryLong(CLAIMS);
            assertThat(claims).isBetween(1L, 2L);
        }
    }

    private static void produce(TestKafka kafka, String topic) {
        try (KafkaProducer<byte[], byte[]> producer = kafka.producer()) {
            for (int i = 0; i < RECORDS; i++) {
                producer.send(TestKafka.record(topic, "message-" + i, "{}"));
            }
        }
    }
}
