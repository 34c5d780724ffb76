package dev.hapax.bench;

import dev.hapax.bench.outbox.OutboxLoad;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Properties;

/** The outbox beside gruelbox's transaction-outbox, which has as many workers as serve it best. */
final class OutboxFigures {
    /** What must be said beside any figure of the outbox. */
    static final String DURABILITY =
            "claims of the Hapax outbox do not wait for the disk (synchronous_commit=off): if PostgreSQL crashes, messages"
                    + " may be published twice; every other commit of both outboxes waits";

    private static final List<Integer> WORKERS = List.of(8, 16, 32, 64, 128);
    private static final int MESSAGES_PER_OPERATION = 10;
    private static final String POM = "/META-INF/maven/com.gruelbox/transactionoutbox-core/pom.properties";

    static final List<Figure> ALL = List.of(
            Figure.of(
                    "outbox-backlog",
                    "delivery of a backlog of 50,000 messages (quick: 10,000) by one relay, in order for each of 1,000 aggregates",
                    "gruelbox's transaction-outbox without order, with as many workers as serve it best",
                    2,
                    (figure, bench) -> measure(figure, bench, OutboxLoad::backlog)),
            Figure.informing(
                    "outbox-live",
                    "delivery of as many messages while 8 transactions at a time append 20 each",
                    "the same with gruelbox's transaction-outbox; both pay for the same appends",
                    (figure, bench) -> measure(figure, bench, OutboxLoad::live)));

    private OutboxFigures() {}

    private interface Delivery {
        double perSecond(OutboxLoad outbox, int messages) throws Exception;
    }

    private static Measured measure(Figure figure, Bench bench, Delivery delivery) throws Exception {
        String url = bench.lab().jdbcUrl();
        String gruelbox = "gruelbox " + version();
        List<Comparison.Variant> variants = WORKERS.stream()
                .<Comparison.Variant>map(workers -> () -> workload(
                        "%s, %d workers".formatted(gruelbox, workers), OutboxLoad.gruelbox(url, workers), delivery))
                .toList();
        Effort effort = bench.effort().toInform();
        try (Comparison comparison =
                Comparison.withFastest(workload("hapax", OutboxLoad.hapax(url), delivery), variants)) {
            return comparison.measure(
                    figure,
                    bench,
                    effort.withWarmUp(Duration.ofSeconds(bench.effort().quick() ? 15 : 60)));
        }
    }

    private static Workload workload(String name, OutboxLoad outbox, Delivery delivery) {
        return Workload.of(
                name, outbox::close, effort -> delivery.perSecond(outbox, MESSAGES_PER_OPERATION * effort.bounded()));
    }

    private static String version() throws IOException {
        Properties pom = new Properties();
        try (InputStream in = OutboxFigures.class.getResourceAsStream(POM)) {
            if (in != null) {
                pom.load(in);
            }
        }
        return pom.getProperty("version", "of unknown version");
    }
}
