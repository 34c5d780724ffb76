package dev.hapax.messaging.kafka;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.messaging.queues.Ledger;
import dev.hapax.messaging.queues.Ledger.Mode;
import dev.hapax.messaging.queues.LedgerWorker;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.GroupProtocol;

/** One of many processes that consume a topic and write a ledger, until it is killed. */
final class KafkaWorker {
    private KafkaWorker() {}

    /** @param args JDBC URL, owner, mode, bootstrap servers, topic, group protocol */
    public static void main(String[] args) throws Exception {
        String owner = args[1];
        LedgerWorker.run(args[0], owner, (hapax, pool, observed) -> {
            KafkaConsumerLoop loop = KafkaConsumerLoop.of(
                            settings(args[3], args[4], GroupProtocol.of(args[5])),
                            Ledger.consumer(
                                    KafkaMessages.consumer(Ledger.NAME, hapax)
                                            .key(observed.counting(
                                                    record -> isRedelivered(record, owner, pool),
                                                    KafkaMessages.recordKey())),
                                    TestKafka::key,
                                    Mode.valueOf(args[2]),
                                    pool))
                    .topics(args[4])
                    .deadLetters(DeadLetters.stopping())
                    .start();
            loop.stopped().whenComplete((nothing, error) -> {
                if (error != null) {
                    error.printStackTrace();
                    Runtime.getRuntime().halt(1);
                }
            });
            return loop;
        });
    }

    static String group(String topic) {
        return "group-of-" + topic;
    }

    private static Map<String, Object> settings(String bootstrapServers, String topic, GroupProtocol protocol) {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", bootstrapServers);
        settings.put("group.id", group(topic));
        settings.put("group.protocol", protocol.name);
        if (protocol == GroupProtocol.CLASSIC) {
            settings.put("session.timeout.ms", 1_500);
            settings.put("heartbeat.interval.ms", 300);
        }
        return settings;
    }

    /** Kafka does not tell a redelivery, so the database remembers which process a record was delivered to first. */
    private static boolean isRedelivered(ConsumerRecord<byte[], byte[]> record, String owner, HikariDataSource pool) {
        try (Connection connection = pool.getConnection();
                PreparedStatement insert = connection.prepareStatement("""
                        INSERT INTO delivery (position, owner) VALUES (?, ?)
                        ON CONFLICT (position) DO UPDATE SET owner = delivery.owner RETURNING owner""")) {
            insert.setString(1, RejectedRecordException.position(record));
            insert.setString(2, owner);
            try (ResultSet first = insert.executeQuery()) {
                first.next();
                return !first.getString(1).equals(owner);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
