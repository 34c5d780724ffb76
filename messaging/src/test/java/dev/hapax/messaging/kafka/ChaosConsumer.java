package dev.hapax.messaging.kafka;

import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.postgres.PostgresStore;
import dev.hapax.postgres.PostgresTransactions;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * One of many processes that consume a topic and write a ledger. Closes at the first line of its input, and says
 * {@code closed} then.
 */
final class ChaosConsumer {
    private ChaosConsumer() {}

    enum Mode {
        LEASED,
        TRANSACTIONAL
    }

    /** The arguments of a consumer. {@code assignor} may be {@code consumer}, the newer rebalance protocol. */
    record Plan(String bootstrapServers, String jdbcUrl, String topic, String group, Mode mode, String assignor) {
        List<String> toArguments(String owner) {
            return List.of(bootstrapServers, jdbcUrl, topic, group, mode.name(), assignor, owner);
        }

        static Plan of(String[] it) {
            return new Plan(it[0], it[1], it[2], it[3], Mode.valueOf(it[4]), it[5]);
        }
    }

    public static void main(String[] args) throws Exception {
        Plan plan = Plan.of(args);
        String owner = args[6];
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (Ledger ledger = Ledger.at(plan.jdbcUrl());
                Hapax hapax = Hapax.on(PostgresStore.over(ledger.pool()))
                        .scope(
                                "ledger",
                                Policy.defaults().lease(Duration.ofSeconds(3)).maxAttempts(1000))
                        .owner(owner)
                        .sweepEvery(Duration.ofSeconds(1))
                        .build();
                KafkaConsumerLoop loop = KafkaConsumerLoop.of(settings(plan), consumer(plan, owner, ledger, hapax))
                        .topics(plan.topic())
                        .deadLetters(DeadLetters.stopping())
                        .start()) {
            loop.stopped().whenComplete((nothing, error) -> {
                if (error != null) {
                    error.printStackTrace();
                    Runtime.getRuntime().halt(1);
                }
            });
            in.readLine();
        }
        System.out.println("closed");
        System.exit(0);
    }

    private static Map<String, Object> settings(Plan plan) {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", plan.bootstrapServers());
        settings.put("group.id", plan.group());
        if (plan.assignor().equals("consumer")) {
            settings.put("group.protocol", "consumer");
        } else {
            settings.put("session.timeout.ms", 1_500);
            settings.put("heartbeat.interval.ms", 300);
            settings.put("partition.assignment.strategy", plan.assignor());
        }
        return settings;
    }

    private static IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer(
            Plan plan, String owner, Ledger ledger, Hapax hapax) {
        IdempotentConsumer.Builder<ConsumerRecord<byte[], byte[]>> builder =
                KafkaMessages.consumer("ledger", hapax).key(KafkaMessages.header(Ledger.ID));
        return plan.mode() == Mode.LEASED
                ? builder.handling((record, lease) -> {
                    ledger.begin(record, owner);
                    ledger.write(record, lease, owner);
                    work();
                })
                : builder.handlingWithin(PostgresTransactions.over(ledger.pool()), (record, connection, lease) -> {
                    ledger.begin(record, owner);
                    ledger.write(connection, record, lease, owner);
                    work();
                });
    }

    /** Some handlers fail, some take a moment, and a few take long enough to be killed in the middle. */
    private static void work() {
        int chance = ThreadLocalRandom.current().nextInt(1000);
        if (chance == 0) {
            throw new IllegalStateException("did not work this time");
        }
        if (chance < 50) {
            LockSupport.parkNanos(Duration.ofMillis(chance < 25 ? 300 : chance).toNanos());
        }
    }
}
