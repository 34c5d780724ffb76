package dev.hapax.postgres.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.outbox.OutboxMessage;
import dev.hapax.outbox.Outgoing;
import dev.hapax.outbox.PublishResult;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Timeout;

/**
 * Appends from many transactions that overlap, several relays, a broker that is late, fails and answers too late, and
 * leases that expire while messages are in flight: a receiver that drops duplicates gets every message, in order.
 *
 * <p>{@code -Dhapax.outbox.seed=…} repeats the appends, the broker's answers and the choice of leases; threads still
 * run as they like.
 */
@Timeout(120)
class OutboxOrderTest {
    private static final int APPENDERS = 4;
    private static final int APPENDS = 120;
    private static final int AGGREGATES = 12;

    private final long seed = Long.getLong("hapax.outbox.seed", System.nanoTime());
    private final AtomicInteger lostLeases = new AtomicInteger();
    private final AtomicInteger thefts = new AtomicInteger();
    private final TestOutbox box = new TestOutbox();
    private final Receiver receiver = new Receiver();
    private final ScheduledExecutorService later = Executors.newScheduledThreadPool(2);
    private final ExecutorService appending = Executors.newFixedThreadPool(APPENDERS);
    private final Map<String, ConcurrentSkipListMap<Long, String>> appended = new ConcurrentHashMap<>();

    @AfterEach
    void close() {
        box.close();
        later.shutdownNow();
        appending.shutdownNow();
    }

    @RepeatedTest(2)
    void aggregatesArriveInOrderOfAppends() throws Exception {
        System.out.println("-Dhapax.outbox.seed=" + seed);
        Random random = new Random(seed);
        receiver.answeringLater(message ->
                answer(message, new Random(seed + 31L * message.message().id().hashCode() + message.attempt())));
        for (int i = 0; i < 3; i++) {
            box.start(box.relay(receiver)
                    .batch(1 + random.nextInt(40))
                    .maxAttempts(1_000)
                    .publishTimeout(Duration.ofMillis(100))
                    .lease(Duration.ofMillis(1_000))
                    .pollEvery(Duration.ofMillis(20))
                    .lagEvery(Duration.ofHours(1))
                    .listener(new OutboxListener() {
                        @Override
                        public void leasesLost(int aggregates) {
                            lostLeases.addAndGet(aggregates);
                        }
                    }));
        }
        List<Future<?>> appenders = new ArrayList<>();
        for (int i = 0; i < APPENDERS; i++) {
            Random own = new Random(random.nextLong());
            appenders.add(appending.submit(() -> {
                appendAll(own);
                return null;
            }));
        }
        Future<?> thief = later.scheduleAtFixedRate(this::endSomeLeases, 10, 30, TimeUnit.MILLISECONDS);
        for (Future<?> appender : appenders) {
            appender.get();
        }
        thief.cancel(false);
        box.awaitEmpty();

        Map<String, List<String>> expected = new TreeMap<>();
        appended.forEach((aggregate, bySeq) -> expected.put(aggregate, List.copyOf(bySeq.values())));
        assertThat(new TreeMap<>(receiver.firstTimesByAggregate()))
                .as("seed %d", seed)
                .isEqualTo(expected);
        assertThat(lostLeases.get()).as("lost leases, seed %d", seed).isPositive();
    }

    private CompletionStage<PublishResult> answer(Outgoing message, Random random) {
        if (random.nextInt(10) == 0) {
            return CompletableFuture.completedFuture(PublishResult.failed("by chance"));
        }
        if (random.nextInt(3) == 0) {
            return CompletableFuture.completedFuture(PublishResult.published());
        }
        boolean tooLate = message.attempt() == 1 && random.nextInt(100) == 0;
        CompletableFuture<PublishResult> answer = new CompletableFuture<>();
        later.schedule(
                () -> answer.complete(
                        random.nextInt(10) == 0 ? PublishResult.failed("late") : PublishResult.published()),
                tooLate ? 200 : random.nextInt(5),
                TimeUnit.MILLISECONDS);
        return answer;
    }

    /** As if the relay had been stopped for longer than its lease: another one takes over. */
    private void endSomeLeases() {
        box.database.execute("""
                UPDATE hapax_outbox SET due = clock_timestamp()
                WHERE state = 1 AND abs(hashtext(id::text || %d)::bigint) %% 5 = 0""".formatted(thefts.incrementAndGet()));
    }

    private void appendAll(Random random) throws SQLException {
        try (Connection connection = box.database.unpooled().getConnection()) {
            connection.setAutoCommit(false);
            for (int i = 0; i < APPENDS; i++) {
                append(connection, random);
            }
        }
    }

    private void append(Connection connection, Random random) throws SQLException {
        List<OutboxMessage> messages = new ArrayList<>();
        String aggregate = "aggregate-" + random.nextInt(AGGREGATES);
        for (int n = 1 + random.nextInt(4); n > 0; n--) {
            String text = Long.toString(random.nextLong(), 36);
            messages.add(Receiver.message(aggregate, text).id(new UUID(random.nextLong(), random.nextLong())));
        }
        Outbox.standard().append(connection, messages);
        Map<Long, String> bySeq = bySeq(connection, messages);
        LockSupport.parkNanos(random.nextInt(3) * 1_000_000L); // the transaction stays open for a while
        if (random.nextInt(5) == 0) {
            connection.rollback();
            return;
        }
        appended.computeIfAbsent(aggregate, it -> new ConcurrentSkipListMap<>()).putAll(bySeq);
        connection.commit();
    }

    private static Map<Long, String> bySeq(Connection connection, List<OutboxMessage> messages) throws SQLException {
        Map<Long, String> found = new TreeMap<>();
        try (PreparedStatement look =
                connection.prepareStatement("SELECT seq, body FROM hapax_outbox WHERE id = ANY (?)")) {
            look.setArray(
                    1,
                    connection.createArrayOf(
                            "uuid", messages.stream().map(OutboxMessage::id).toArray()));
            try (ResultSet row = look.executeQuery()) {
                while (row.next()) {
                    found.put(row.getLong("seq"), new String(row.getBytes("body"), StandardCharsets.UTF_8));
                }
            }
        }
        assertThat(List.copyOf(found.values()))
                .isEqualTo(messages.stream().map(Receiver::text).toList());
        return found;
    }
}
