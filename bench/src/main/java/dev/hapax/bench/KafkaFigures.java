package dev.hapax.bench;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.bench.kafka.ConsumerLoad;
import dev.hapax.bench.kafka.KafkaBroker;
import java.time.Duration;
import java.util.List;

/** The idempotent Kafka consumer beside one that inserts the key of each message by hand. */
final class KafkaFigures {
    static final List<Figure> ALL = List.of(Figure.of(
            "kafka-consumer",
            "messages per second of the consumer loop, which claims a poll at once, 4 partitions, pool of 8",
            "a consumer that inserts each message's key in a commit of its own before it handles it, and stores no result",
            4,
            KafkaFigures::measure));

    private KafkaFigures() {}

    private static Measured measure(Figure figure, Bench bench) throws Exception {
        Effort effort = bench.effort();
        bench.say("starting Kafka");
        try (KafkaBroker broker = KafkaBroker.start();
                HikariDataSource pool = bench.lab().pool(Figures.POOL, Lab.WARM);
                HikariDataSource single = bench.lab().pool(1, Lab.WARM);
                Comparison comparison = Comparison.of(
                        workload("hapax", ConsumerLoad.idempotent(broker, pool)),
                        workload("insert per message", ConsumerLoad.inserting(broker, single)))) {
            return comparison.measure(figure, bench, effort.withWarmUp(Duration.ofSeconds(effort.quick() ? 10 : 30)));
        }
    }

    private static Workload workload(String name, ConsumerLoad consumer) {
        return Workload.of(name, consumer::close, effort -> consumer.perSecond(effort.bounded()));
    }
}
