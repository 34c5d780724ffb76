package dev.hapax.postgres.outbox;

import static dev.hapax.outbox.PublishResult.published;
import static dev.hapax.postgres.outbox.Receiver.message;
import static dev.hapax.postgres.outbox.Receiver.unordered;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.outbox.PublishResult;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Other transactions lock, change or delete the rows that a relay works on. */
@Timeout(60)
class OutboxMeddlingTest {
    private final TestOutbox box = new TestOutbox();
    private final Receiver receiver = new Receiver();

    @AfterEach
    void close() {
        box.close();
    }

    /** A relay that was stopped for longer than its lease must not undo what its successor does. */
    @Test
    void relayWithExpiredLeaseRemovesNothing() {
        CompletableFuture<PublishResult> answer = new CompletableFuture<>();
        Receiver slow = new Receiver().answeringLater(it -> answer);
        AtomicInteger lost = new AtomicInteger();
        box.append(message("a", "a1"), message("a", "a2"));
        box.start(box.relay(slow).pollEvery(Duration.ofHours(1)).listener(new OutboxListener() {
            @Override
            public void leasesLost(int aggregates) {
                lost.addAndGet(aggregates);
            }
        }));
        box.awaitLeased();
        box.database.execute("UPDATE hapax_outbox SET due = clock_timestamp() WHERE state = 1");
        CompletableFuture<PublishResult> second = new CompletableFuture<>();
        box.start(receiver.answeringLater(it -> second));
        TestOutbox.await().until(() -> box.database.queryLong("SELECT max(attempt) FROM hapax_outbox") == 2);

        answer.complete(published());
        TestOutbox.await().until(() -> lost.get() == 1);

        assertThat(box.rows()).isEqualTo(2);
        second.complete(published());
        box.awaitEmpty();
        assertThat(receiver.texts()).startsWith("a1");
    }

    /** The relays learn of rows that are deleted by hand when they look for such, at their start and every hour. */
    @Test
    void rowsBehindOneDeletedByHandArePublished() {
        receiver.answering(it -> PublishResult.refused("no"));
        box.append(message("a", "a1"), message("a", "a2"));
        OutboxRelay first = box.start(receiver);
        box.awaitWaiting(1);
        first.close();
        receiver.answering(it -> published());
        box.database.execute("DELETE FROM hapax_outbox WHERE state = 3");
        box.start(receiver);
        box.awaitEmpty();

        assertThat(receiver.texts()).containsExactly("a2");
    }

    /** However much time passes. */
    @Test
    void rowsBehindParkedMessageAreNeverLookedAtAgain() {
        receiver.answering(
                it -> Receiver.text(it.message()).equals("poison") ? PublishResult.refused("no") : published());
        box.append(message("a", "poison"), message("a", "behind"), message("a", "behind"));
        OutboxRelay relay = box.start(box.relay(receiver));
        box.awaitWaiting(2);
        TestOutbox.await().until(() -> box.inspector.lag().parked() == 1);
        box.database.execute("UPDATE hapax_outbox SET due = due - interval '1 day'");
        String versions = "SELECT string_agg(xmin::text, ',' ORDER BY seq) FROM hapax_outbox WHERE aggregate = 'a'";
        String before = box.database.query(versions);
        for (int i = 0; i < 2; i++) {
            int expected = i + 1;
            box.append(unordered("fresh"));
            relay.wake();
            TestOutbox.await().until(() -> receiver.accepted().size() == expected);
        }

        assertThat(box.database.query(versions)).isEqualTo(before);
    }

    @Test
    void lockedRowDelaysNoOther() throws Exception {
        box.append(message("a", "held"), message("b", "free"));
        try (var connection = box.pool.getConnection();
                var statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT FROM hapax_outbox WHERE aggregate = 'a' FOR UPDATE");
            box.start(receiver);
            TestOutbox.await().until(() -> receiver.texts().equals(List.of("free")));
            TestOutbox.await().until(() -> box.rows() == 1);
            connection.rollback();
        }
        box.awaitEmpty();
    }

    @Test
    void rowLockedWhilePublishedDelaysNoOther() throws Exception {
        CompletableFuture<PublishResult> answer = new CompletableFuture<>();
        receiver.answeringLater(it -> answer);
        box.append(
                IntStream.range(0, 8).mapToObj(i -> message("order-" + i, "")).toList());
        box.start(receiver);
        box.awaitLeased();
        try (var connection = box.pool.getConnection();
                var statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT FROM hapax_outbox WHERE aggregate = 'order-3' FOR UPDATE");
            answer.complete(published());
            TestOutbox.await().until(() -> box.rows() == 1);
            connection.rollback();
        }
        box.awaitEmpty();
        assertThat(receiver.accepted()).hasSize(8);
    }

    /**
     * Another relay sets rows to waiting while this one waits for the lock: their newest version is at another place.
     */
    @Test
    void rowSetToWaitingDuringFinishIsRemoved() throws Exception {
        CompletableFuture<PublishResult> answer = new CompletableFuture<>();
        receiver.answeringLater(it -> answer);
        box.append(message("a", "a1"), message("a", "a2"));
        box.start(receiver);
        box.awaitLeased();
        try (var connection = box.pool.getConnection();
                var statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT FROM hapax_outbox WHERE state = 1 FOR UPDATE");
            statement.execute("UPDATE hapax_outbox SET state = 2, due = '9999-12-31 00:00:00+00' WHERE state <> 1");
            answer.complete(published());
            TestOutbox.await()
                    .pollInterval(Duration.ofMillis(5))
                    .until(() -> box.database.queryLong("SELECT count(*) FROM pg_locks WHERE NOT granted") > 0);
            connection.commit();
        }
        box.awaitEmpty();
        assertThat(receiver.texts()).containsExactly("a1", "a2");
    }

    /** A transaction that stays open with a row locked delays neither other messages nor the relay. */
    @Test
    void orderingKeyLockedForLongDelaysNoOther() throws Exception {
        CompletableFuture<PublishResult> answer = new CompletableFuture<>();
        receiver.answeringLater(
                it -> "a".equals(it.message().aggregate()) ? answer : CompletableFuture.completedFuture(published()));
        box.append(message("a", "a1"));
        box.start(box.relay(receiver).batch(20));
        box.awaitLeased();
        try (var connection = box.pool.getConnection();
                var statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT FROM hapax_outbox WHERE state = 1 FOR UPDATE");
            box.append(IntStream.range(0, 50)
                    .mapToObj(i -> message("a", "behind " + i))
                    .toList());
            answer.complete(published());
            box.append(unordered("another"));
            TestOutbox.await().until(() -> receiver.texts().contains("another"));
            box.append(unordered("one more"));
            TestOutbox.await().until(() -> receiver.texts().contains("one more"));
            connection.rollback();
        }
        box.awaitEmpty();
        assertThat(receiver.texts()).doesNotHaveDuplicates().hasSize(53);
    }

    @Test
    void lockedRowKeepsNoOtherLeased() throws Exception {
        box.append(message("a", "a1"), message("b", "b1"));
        OutboxTable table = TestOutbox.table(box.pool, Duration.ofMinutes(1));
        List<UUID> lost = List.of(table.claim(10, 10, lease -> {}).lease().token());
        try (var connection = box.pool.getConnection();
                var statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT FROM hapax_outbox WHERE aggregate = 'a' FOR UPDATE");
            assertThat(table.release(lost)).isOne();
            connection.rollback();
        }
        assertThat(table.release(lost)).isOne();
        assertThat(table.claim(10, 10, lease -> {}).leased()).hasSize(2);
    }

    /** Messages published under an expired lease are not removed under the next one. */
    @Test
    void expiredLeaseCannotFinishItsSuccessor() {
        box.append(message("a", "a1"));
        OutboxTable table = TestOutbox.table(box.pool, Duration.ofMinutes(1));
        LeasedMessages first = TestOutbox.table(box.pool, Duration.ofMillis(2))
                .claim(10, 10, lease -> {})
                .leased()
                .get(0);
        LeasedMessages second = TestOutbox.await()
                .until(() -> table.claim(10, 10, lease -> {}).leased(), it -> !it.isEmpty())
                .get(0);
        first.advance();
        second.fail(new PublishFailure("busy", Duration.ofHours(1)));

        assertThat(table.finish(List.of(first, second)).stillLeased()).containsExactly(second);
        assertThat(box.rows()).isEqualTo(1);
    }

    @Test
    void resultThatCannotBeStoredAffectsNoOther() {
        box.database.execute("ALTER TABLE hapax_outbox ADD CHECK (error <> 'unspeakable')");
        receiver.answering(
                it -> Receiver.text(it.message()).equals("a3") ? PublishResult.failed("unspeakable") : published());
        box.append(IntStream.range(0, 8)
                .mapToObj(i -> message("order-" + i, "a" + i))
                .toList());
        box.start(receiver);
        TestOutbox.await().until(() -> box.rows() == 1);

        assertThat(receiver.texts()).doesNotHaveDuplicates().hasSize(7);
    }

    /** As after an update by hand, or by a newer version. */
    @Test
    void rowThatCannotBeReadIsParked() {
        box.append(
                message("a", "a1"), message("a", "bad"), message("a", "a3"), message("b", "bad"), message("c", "c1"));
        box.database.execute("UPDATE hapax_outbox SET headers = 'no line' WHERE body = 'bad' AND aggregate = 'a'");
        box.database.execute("UPDATE hapax_outbox SET topic = '' WHERE body = 'bad' AND aggregate = 'b'");
        box.start(receiver);
        TestOutbox.await().until(() -> box.inspector.parked(10).size() == 2);
        TestOutbox.await().until(() -> box.rows() == 3);

        assertThat(receiver.texts()).containsExactlyInAnyOrder("a1", "c1");
        assertThat(box.inspector.parked(10))
                .allSatisfy(it -> assertThat(it.reason()).contains("cannot be read"))
                .allSatisfy(it -> assertThat(Receiver.text(it.message())).isEqualTo("bad"));
        box.database.execute("UPDATE hapax_outbox SET headers = '', topic = 'orders'");
        assertThat(box.inspector.unparkAll("orders")).isEqualTo(2);
        box.awaitEmpty();
        assertThat(receiver.firstTimesByAggregate().get("a")).containsExactly("a1", "bad", "a3");
    }

    @Test
    void claimLeasesNoMoreThanAskedFor() {
        box.append(IntStream.range(0, 30).mapToObj(i -> unordered("" + i)).toList());

        OutboxTable table = TestOutbox.table(box.pool, Duration.ofMinutes(1));

        assertThat(table.claim(100, 10, lease -> {}).leased()).hasSize(10);
        assertThat(box.leased()).isEqualTo(10);
    }

    /** However small the batch is, and however many rows there are. */
    @Test
    void rowsBehindLockedOneDoNotFillSmallBatch() throws Exception {
        box.append(message("a", "held"));
        try (var connection = box.pool.getConnection();
                var statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT FROM hapax_outbox FOR UPDATE");
            box.append(IntStream.range(0, 600).mapToObj(i -> message("a", "")).toList());
            box.append(unordered("free"), unordered("free too"));
            box.start(box.relay(receiver).batch(1).pollEvery(Duration.ofHours(1)));
            TestOutbox.await().until(() -> receiver.texts().containsAll(List.of("free", "free too")));
            connection.rollback();
        }
    }

    /** Many rows here and there: to look for them costs one statement, and not one for each. */
    @Test
    void scatteredLockedRowsDelayNoOther() throws Exception {
        CompletableFuture<PublishResult> answer = new CompletableFuture<>();
        receiver.answeringLater(it -> answer);
        box.append(
                IntStream.range(0, 60).mapToObj(i -> message("order-" + i, "")).toList());
        box.start(box.relay(receiver).lease(Duration.ofMinutes(5)));
        box.awaitLeased();
        try (var connection = box.pool.getConnection();
                var statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT FROM hapax_outbox WHERE seq % 2 = 0 FOR UPDATE");
            answer.complete(published());
            TestOutbox.await().until(() -> box.rows() == 30);
            box.append(unordered("fresh"));
            TestOutbox.await().until(() -> receiver.texts().contains("fresh"));
            connection.rollback();
        }
        box.awaitEmpty();
        assertThat(receiver.accepted()).hasSize(61);
    }

    @Test
    void lockedOrphanKeepsNoOtherWaiting() throws Exception {
        box.append(message("a", "a1"), message("b", "b1"));
        box.database.execute("UPDATE hapax_outbox SET state = 2, due = " + OutboxTable.NEVER);
        OutboxTable table = TestOutbox.table(box.pool, Duration.ofMinutes(1));
        try (var connection = box.pool.getConnection();
                var statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT FROM hapax_outbox WHERE aggregate = 'a' FOR UPDATE");
            assertThat(table.releaseOrphanedWaiting()).isOne();
            connection.rollback();
        }
        assertThat(table.releaseOrphanedWaiting()).isOne();
    }
}
