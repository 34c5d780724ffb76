package dev.hapax.postgres.outbox;

import static dev.hapax.postgres.outbox.Receiver.message;
import static dev.hapax.postgres.outbox.Receiver.unordered;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.outbox.Outgoing;
import dev.hapax.outbox.PublishResult;
import dev.hapax.store.StoreException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A relay between a publisher, listeners and a database that misbehave. */
@Timeout(60)
class OutboxFaultsTest {
    private final TestOutbox box = new TestOutbox();
    private final Receiver receiver = new Receiver();

    @AfterEach
    void close() {
        box.close();
    }

    private OutboxRelay.Builder relay(HookedDataSource dataSource) {
        return OutboxRelay.over(dataSource, receiver)
                .pollEvery(Duration.ofMillis(50))
                .backoff(Duration.ofMillis(20), Duration.ofMillis(50));
    }

    @Test
    void nullStageFailsOnlyItsOwnMessage() {
        AtomicBoolean broken = new AtomicBoolean(true);
        box.append(IntStream.range(0, 5).mapToObj(i -> unordered("m" + i)).toList());
        box.start(box.relay(messages -> {
            List<CompletionStage<PublishResult>> stages = new ArrayList<>(receiver.publish(messages));
            if (broken.getAndSet(false)) {
                stages.set(1, null);
                stages.set(2, CompletableFuture.completedStage(null));
            }
            return stages;
        }));
        box.awaitEmpty();

        assertThat(receiver.texts()).as("only m1 and m2 again").hasSize(7).contains("m0", "m1", "m2", "m3", "m4");
    }

    @Test
    void publisherWithoutAnswersIsCalledAgain() {
        AtomicInteger calls = new AtomicInteger();
        box.append(unordered("once"));
        box.start(box.relay(messages -> switch (calls.incrementAndGet()) {
                    case 1 -> null;
                    case 2 -> List.of();
                    case 3 -> throw new AssertionError("an Error, not an exception");
                    default -> receiver.publish(messages);
                })
                .publishTimeout(Duration.ofMinutes(1))
                .lease(Duration.ofMinutes(2)));
        box.awaitEmpty();

        assertThat(receiver.accepted())
                .singleElement()
                .satisfies(it -> assertThat(it.attempt()).isEqualTo(4));
    }

    @Test
    void errorOfListenerDoesNotEndRelay() {
        AtomicBoolean away = new AtomicBoolean(true);
        HookedDataSource dataSource = new HookedDataSource(box.pool) {
            @Override
            void beforeConnection() throws SQLException {
                boolean isRelay = Thread.currentThread().getName().equals("hapax-outbox-relay");
                if (isRelay && away.getAndSet(false)) {
                    throw new SQLException("away", "08001");
                }
            }
        };
        box.append(unordered("news"));
        AtomicInteger outages = new AtomicInteger();
        AtomicInteger heard = new AtomicInteger();
        OutboxListener broken = new OutboxListener() {
            @Override
            public void unavailable(StoreException cause) {
                outages.incrementAndGet();
                throw new AssertionError("listeners cannot stop a relay");
            }

            @Override
            public void published(Outgoing message) {
                throw new AssertionError("listeners cannot stop each other");
            }
        };
        OutboxListener working = new OutboxListener() {
            @Override
            public void published(Outgoing message) {
                heard.incrementAndGet();
            }
        };
        box.start(relay(dataSource).listener(broken).listener(working).lagEvery(Duration.ofHours(1)));
        box.awaitEmpty();

        TestOutbox.await().until(() -> heard.get() == 1);
        assertThat(outages).hasValue(1);
    }

    @Test
    void interruptOfListenerDoesNotEndMaintenance() {
        AtomicInteger lags = new AtomicInteger();
        box.start(box.relay(receiver).lagEvery(Duration.ofMillis(1)).listener(new OutboxListener() {
            @Override
            public void lag(OutboxLag lag) {
                lags.incrementAndGet();
                Thread.currentThread().interrupt();
            }
        }));

        TestOutbox.await().until(() -> lags.get() > 2);
    }

    /** Otherwise the same claim would fail the same way for ever. */
    @Test
    void claimTooLargeForMemoryIsMadeSmaller() {
        AtomicInteger failures = new AtomicInteger();
        HookedDataSource dataSource = new HookedDataSource(box.pool) {
            @Override
            void afterStatement(String sql) {
                if (sql.contains("candidate") && box.leased() > 6) {
                    failures.incrementAndGet();
                    throw new OutOfMemoryError("simulated");
                }
            }
        };
        box.append(IntStream.range(0, 12).mapToObj(i -> unordered("m" + i)).toList());
        box.start(relay(dataSource).batch(12).lease(Duration.ofHours(1)));
        box.awaitEmpty();

        assertThat(failures.get()).isPositive();
        assertThat(receiver.texts()).doesNotHaveDuplicates().hasSize(12);
    }

    @Test
    void finishWhoseAnswerIsLostIsReported() {
        AtomicBoolean lost = new AtomicBoolean();
        HookedDataSource dataSource = new HookedDataSource(box.pool) {
            @Override
            void afterStatement(String sql) throws SQLException {
                if (sql.contains("still_leased") && !lost.getAndSet(true)) {
                    throw new SQLException("the answer was lost", "08006");
                }
            }
        };
        AtomicInteger published = new AtomicInteger();
        AtomicInteger leasesLost = new AtomicInteger();
        box.append(message("a", "a1"), message("b", "b1"));
        box.start(relay(dataSource).listener(new OutboxListener() {
            @Override
            public void published(Outgoing message) {
                published.incrementAndGet();
            }

            @Override
            public void leasesLost(int aggregates) {
                leasesLost.addAndGet(aggregates);
            }
        }));
        TestOutbox.await().until(() -> published.get() + leasesLost.get() == 2);

        assertThat(lost).isTrue();
        assertThat(published).hasValue(2);
    }

    @Test
    void slowLagCountDelaysNoMessage() {
        CountDownLatch counted = new CountDownLatch(1);
        AtomicInteger counting = new AtomicInteger();
        HookedDataSource dataSource = new HookedDataSource(box.pool) {
            @Override
            void beforeStatement(String sql) {
                if (sql.contains("AS depth")) {
                    counting.incrementAndGet();
                    try {
                        counted.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                }
            }
        };
        AtomicInteger lags = new AtomicInteger();
        box.start(relay(dataSource).lagEvery(Duration.ofMillis(1)).listener(new OutboxListener() {
            @Override
            public void lag(OutboxLag lag) {
                lags.incrementAndGet();
            }
        }));
        try {
            TestOutbox.await().until(() -> counting.get() == 1);
            for (int i = 0; i < 3; i++) {
                box.append(unordered("news"));
                box.awaitEmpty();
            }
            assertThat(counting).as("one count at a time").hasValue(1);
        } finally {
            counted.countDown();
        }
        TestOutbox.await().until(() -> lags.get() > 1);
    }

    @Test
    void claimWhoseAnswerIsLostIsReleased() {
        AtomicBoolean lost = new AtomicBoolean();
        HookedDataSource dataSource = new HookedDataSource(box.pool) {
            @Override
            void afterStatement(String sql) throws SQLException {
                if (sql.contains("candidate") && box.leased() > 0 && !lost.getAndSet(true)) {
                    throw new SQLException("the answer was lost", "08006");
                }
            }
        };
        box.append(message("a", "a1"), message("a", "a2"), message("b", "b1"));
        box.start(relay(dataSource).lease(Duration.ofHours(1)));
        box.awaitEmpty();

        assertThat(lost).isTrue();
        assertThat(receiver.texts()).containsExactlyInAnyOrder("a1", "a2", "b1");
        assertThat(receiver.accepted())
                .as("what was not sent counts as no attempt")
                .allSatisfy(it -> assertThat(it.attempt()).isEqualTo(1));
    }

    /** Otherwise a pool that is exhausted for as long as a lease would keep the relay from ever publishing. */
    @Test
    void waitForConnectionIsNotPartOfLease() {
        AtomicLong connected = new AtomicLong();
        AtomicLong sent = new AtomicLong();
        HookedDataSource dataSource = new HookedDataSource(box.pool) {
            @Override
            void afterConnection() {
                connected.set(System.nanoTime());
            }

            @Override
            void beforeStatement(String sql) {
                sent.set(System.nanoTime());
            }
        };
        Duration lease = Duration.ofMinutes(1);
        box.append(unordered("news"));

        long began = TestOutbox.table(dataSource, lease)
                        .claim(10, 10, it -> {})
                        .lease()
                        .until()
                - lease.toNanos();

        assertThat(began - connected.get()).as("after the connection was there").isNotNegative();
        assertThat(sent.get() - began).as("before the statement was sent").isNotNegative();
    }
}
