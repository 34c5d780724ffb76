package dev.hapax.bench.kafka;

import dev.hapax.Hapax;
import dev.hapax.HapaxListener;
import dev.hapax.Policy;
import dev.hapax.messaging.kafka.DeadLetters;
import dev.hapax.messaging.kafka.KafkaConsumerLoop;
import dev.hapax.messaging.kafka.KafkaMessages;
import dev.hapax.postgres.PostgresStore;
import dev.hapax.store.OperationKey;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** The consumer of Hapax. A message counts when its end is stored. */
final class IdempotentLoop implements ConsumerLoad.Consumption {
    private static final String SCOPE = "bench-consumer";

    private final PostgresStore store;
    private final Hapax hapax;
    private final KafkaConsumerLoop loop;

    IdempotentLoop(Map<String, Object> settings, String topic, DataSource dataSource, Runnable completed) {
        store = PostgresStore.over(dataSource);
        hapax = Hapax.on(store)
                .scope(SCOPE, Policy.defaults())
                .listener(new HapaxListener() {
                    @Override
                    public void completed(OperationKey key, int attempt, Duration took) {
                        completed.run();
                    }
                })
                .withoutFronts()
                .withoutSweeper()
                .build();
        loop = KafkaConsumerLoop.of(
                        settings,
                        KafkaMessages.consumer(SCOPE, hapax)
                                .key(KafkaMessages.recordKey())
                                .handling((record, lease) -> {}))
                .topics(topic)
                .deadLetters(DeadLetters.stopping())
                .start();
    }

    @Override
    public @Nullable Throwable failure() {
        CompletableFuture<Void> stopped = loop.stopped().toCompletableFuture();
        return stopped.isCompletedExceptionally()
                ? stopped.handle((nothing, e) -> e).join()
                : null;
    }

    @Override
    public void close() {
        loop.close();
        hapax.close();
        store.close();
    }
}
