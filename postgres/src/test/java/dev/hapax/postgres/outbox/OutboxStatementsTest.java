package dev.hapax.postgres.outbox;

import static dev.hapax.postgres.outbox.Receiver.message;
import static dev.hapax.postgres.outbox.Receiver.unordered;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.outbox.OutboxMessage;
import dev.hapax.outbox.PublishResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What reaches PostgreSQL: how many statements, and with which plans. */
@Timeout(120)
class OutboxStatementsTest {
    private final TestOutbox box = new TestOutbox();
    private final Receiver receiver = new Receiver();

    @AfterEach
    void close() {
        box.close();
    }

    /** An outbox is mostly empty when it is analysed, and full when it matters. */
    @Test
    void plansDoNotDependOnStatistics() {
        box.database.execute("VACUUM ANALYZE hapax_outbox");
        receiver.answering(it ->
                it.message().topic().equals("broken") ? PublishResult.failed("by chance") : PublishResult.published());
        // Plans are kept after some executions: have them made while there is next to nothing in the table.
        box.start(box.relay(receiver).batch(100));
        for (int i = 0; i < 20; i++) {
            box.append(message("order-1", "first"), message("order-1", "second"));
            box.awaitEmpty();
        }
        List<OutboxMessage> messages = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            messages.add(OutboxMessage.to("broken", new byte[0]).aggregate("a" + i));
        }
        for (int i = 0; i < 10_000; i++) {
            messages.add(message("order-" + i % 400, ""));
        }
        long scans = stat("seq_scan");
        long rowsRead = indexRowsRead();
        int claims = 10_000 / 100;
        box.append(messages);
        TestOutbox.await()
                .atMost(Duration.ofSeconds(60))
                .until(() -> receiver.accepted().size() == 10_040);
        box.pool.getHikariPoolMXBean().softEvictConnections();

        TestOutbox.await().untilAsserted(() -> assertThat(stat("idx_scan")).isGreaterThan(10_000));
        // TestOutbox.awaitEmpty counts rows too, but had ended before.
        assertThat(stat("seq_scan")).isEqualTo(scans);
        assertThat(indexRowsRead() - rowsRead)
                .as("entries read in indexes, for %d claims of 10,200 rows", claims)
                .isLessThan(40 * 10_200);
    }

    @Test
    void idleRelaySendsOneStatementPerPoll() {
        AtomicInteger statements = new AtomicInteger();
        Duration pollEvery = Duration.ofMillis(50);
        long began = System.nanoTime();
        box.start(OutboxRelay.over(counting(statements), receiver).pollEvery(pollEvery));
        TestOutbox.await().until(() -> statements.get() >= 10);

        // Slower is fine; faster than the shortest pauses allow is not.
        long sent = statements.get();
        long pauses = (System.nanoTime() - began) / (pollEvery.toNanos() * 8 / 10);
        assertThat(sent).isLessThanOrEqualTo(pauses + 1);
    }

    @Test
    void messagesThatBackOffCauseNoFasterPolls() {
        AtomicInteger statements = new AtomicInteger();
        receiver.answering(it -> PublishResult.failed("down"));
        box.append(IntStream.range(0, 50).mapToObj(i -> unordered("" + i)).toList());
        box.start(OutboxRelay.over(counting(statements), receiver)
                .pollEvery(Duration.ofMillis(50))
                .backoff(Duration.ofHours(1), Duration.ofHours(1)));
        TestOutbox.await()
                .until(() -> box.database.queryLong("SELECT count(*) FROM hapax_outbox WHERE attempt = 1") == 50);
        long began = System.nanoTime();
        int before = statements.get();
        TestOutbox.await().until(() -> statements.get() >= before + 10);

        int sent = statements.get() - before;
        long pauses = (System.nanoTime() - began) / Duration.ofMillis(40).toNanos();
        assertThat((long) sent).isLessThanOrEqualTo(pauses + 3);
    }

    @Test
    void batchTakesTwoStatements() {
        AtomicInteger statements = new AtomicInteger();
        box.append(
                IntStream.range(0, 500).mapToObj(i -> message("order-" + i, "")).toList());
        box.start(OutboxRelay.over(counting(statements), receiver).pollEvery(Duration.ofHours(1)));
        box.awaitEmpty();

        // One more claim finds that there is nothing left.
        assertThat(statements.get()).isLessThanOrEqualTo(3);
    }

    private HookedDataSource counting(AtomicInteger statements) {
        return new HookedDataSource(box.pool) {
            @Override
            void beforeStatement(String sql) {
                if (Thread.currentThread().getName().equals("hapax-outbox-relay")) {
                    statements.incrementAndGet();
                }
            }
        };
    }

    private long stat(String column) {
        return box.database.queryLong("SELECT " + column + " FROM pg_stat_user_tables WHERE relname = 'hapax_outbox'");
    }

    private long indexRowsRead() {
        return box.database.queryLong(
                "SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'hapax_outbox'");
    }
}
