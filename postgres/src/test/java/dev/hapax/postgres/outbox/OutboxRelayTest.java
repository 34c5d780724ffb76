package dev.hapax.postgres.outbox;

import static dev.hapax.postgres.outbox.Receiver.message;
import static dev.hapax.postgres.outbox.Receiver.unordered;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.hapax.outbox.OutboxMessage;
import dev.hapax.outbox.Outgoing;
import dev.hapax.outbox.PublishResult;
import dev.hapax.postgres.TestDatabase;
import dev.hapax.store.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class OutboxRelayTest {
    private final TestOutbox box = new TestOutbox();
    private final Receiver receiver = new Receiver();

    @AfterEach
    void close() {
        box.close();
    }

    @Test
    void manyRelaysPublishEachMessageOnce() {
        int messages = 4_000;
        List<OutboxMessage> all = new ArrayList<>();
        for (int i = 0; i < messages; i++) {
            all.add(i % 3 == 0 ? unordered("" + i) : message("order-" + i % 50, "" + i));
        }
        box.append(all);
        for (int i = 0; i < 4; i++) {
            box.start(box.relay(receiver).batch(64));
        }
        box.awaitEmpty();

        assertThat(receiver.accepted()).hasSize(messages);
        assertThat(new HashSet<>(receiver.texts())).hasSize(messages);
    }

    @Test
    void aggregateWaitsForItsFailedMessage() {
        CompletableFuture<Void> repaired = new CompletableFuture<>();
        receiver.answering(it -> Receiver.text(it.message()).equals("a1") && !repaired.isDone()
                ? PublishResult.failed("not yet")
                : PublishResult.published());
        box.append(message("a", "a1"), message("a", "a2"), message("b", "b1"), message("b", "b2"));
        box.start(receiver);
        TestOutbox.await().until(() -> receiver.texts().size() == 2);
        assertThat(receiver.texts()).containsExactly("b1", "b2");
        assertThat(box.database.query("SELECT error FROM hapax_outbox_messages WHERE error IS NOT NULL"))
                .isEqualTo("not yet");

        repaired.complete(null);
        box.awaitEmpty();

        assertThat(receiver.texts()).containsExactly("b1", "b2", "a1", "a2");
        assertThat(receiver.accepted().get(2).attempt()).isGreaterThan(1);
        assertThat(receiver.accepted().get(3).attempt()).isEqualTo(1);
    }

    @Test
    void topicsDoNotShareTheOrderOfAnAggregate() {
        receiver.answering(
                it -> it.message().topic().equals("mails") ? PublishResult.failed("down") : PublishResult.published());
        box.append(
                OutboxMessage.to("mails", new byte[0]).aggregate("a"),
                OutboxMessage.to("orders", new byte[0]).aggregate("a"));
        box.start(receiver);

        TestOutbox.await().until(() -> receiver.accepted().size() == 1);
        assertThat(receiver.accepted().get(0).message().topic()).isEqualTo("orders");
    }

    @Test
    void refusedMessageIsParkedAndItsAggregateWaits() {
        receiver.answering(it -> Receiver.text(it.message()).equals("a1")
                ? PublishResult.refused("no such topic")
                : PublishResult.published());
        OutboxMessage poison = message("a", "a1");
        box.append(poison, message("a", "a2"), message("b", "b1"));
        box.start(receiver);
        TestOutbox.await().until(() -> box.inspector.lag().parked() == 1);
        TestOutbox.await().until(() -> receiver.texts().size() == 1);

        assertThat(box.inspector.parked(10)).singleElement().satisfies(parked -> {
            assertThat(parked.message()).isEqualTo(poison);
            assertThat(parked.attempts()).isEqualTo(1);
            assertThat(parked.reason()).isEqualTo("no such topic");
        });
        assertThat(box.inspector.lag().depth()).as("a2 waits").isEqualTo(1);

        receiver.answering(it -> PublishResult.published());
        assertThat(box.inspector.unpark(poison.id())).isTrue();
        box.awaitEmpty();

        assertThat(receiver.texts()).containsExactly("b1", "a1", "a2");
        assertThat(box.inspector.unpark(poison.id())).isFalse();
    }

    @Test
    void parkedMessageIsOvertakenWithGoOn() {
        receiver.answering(it -> Receiver.text(it.message()).equals("a1")
                ? PublishResult.refused("no such topic")
                : PublishResult.published());
        box.append(message("a", "a1"), message("a", "a2"), message("a", "a3"));
        box.start(box.relay(receiver).whenParked(WhenParked.GO_ON));
        TestOutbox.await().until(() -> receiver.texts().size() == 2);
        TestOutbox.await().until(() -> box.rows() == 1);

        receiver.answering(it -> PublishResult.published());
        assertThat(box.inspector.unparkAll("another")).isZero();
        assertThat(box.inspector.unparkAll("orders")).isOne();
        box.awaitEmpty();

        assertThat(receiver.texts()).containsExactly("a2", "a3", "a1");
    }

    @Test
    void messagesBehindADiscardedOneArePublished() {
        receiver.answering(it ->
                Receiver.text(it.message()).equals("a1") ? PublishResult.refused("poison") : PublishResult.published());
        OutboxMessage poison = message("a", "a1");
        box.append(poison, message("a", "a2"), message("a", "a3"));
        box.start(receiver);
        TestOutbox.await().until(() -> box.inspector.lag().parked() == 1);
        box.awaitWaiting(2);

        assertThat(box.inspector.discard(poison.id())).isTrue();
        box.awaitEmpty();

        assertThat(receiver.texts()).containsExactly("a2", "a3");
        assertThat(box.inspector.discard(poison.id())).isFalse();
    }

    @Test
    void messageIsParkedAfterItsLastAttempt() {
        AtomicInteger attempts = new AtomicInteger();
        receiver.answering(it -> PublishResult.failed("try " + attempts.incrementAndGet()));
        box.append(unordered("poison"));
        box.start(box.relay(receiver).maxAttempts(3));
        TestOutbox.await().until(() -> box.inspector.lag().parked() == 1);

        assertThat(box.inspector.parked(10)).singleElement().satisfies(parked -> {
            assertThat(parked.attempts()).isEqualTo(3);
            assertThat(parked.reason()).isEqualTo("try 3");
        });
        assertThat(attempts).hasValue(3);
    }

    @Test
    void onlyTheFailedMessageCountsAnAttempt() {
        receiver.answering(it ->
                Receiver.text(it.message()).equals("a3") ? PublishResult.failed("busy") : PublishResult.published());
        box.append(
                IntStream.rangeClosed(1, 5).mapToObj(i -> message("a", "a" + i)).toList());
        box.start(box.relay(receiver).maxAttempts(2));
        TestOutbox.await().until(() -> box.inspector.lag().parked() == 1);

        assertThat(receiver.texts()).containsExactly("a1", "a2");
        assertThat(
                        box.database.query(
                                "SELECT string_agg(convert_from(body, 'UTF8') || ' ' || attempt, ', ' ORDER BY seq) FROM hapax_outbox"))
                .isEqualTo("a3 2, a4 0, a5 0");
    }

    @Test
    void publisherThatThrowsOrFailsIsCalledAgain() {
        AtomicInteger calls = new AtomicInteger();
        receiver.answeringLater(it -> switch (calls.incrementAndGet()) {
            case 1 -> throw new IllegalStateException("thrown");
            case 2 -> CompletableFuture.failedFuture(new IllegalStateException("failed"));
            default -> CompletableFuture.completedFuture(PublishResult.published());
        });
        box.append(unordered("once"));
        box.start(receiver);
        box.awaitEmpty();

        assertThat(receiver.accepted())
                .singleElement()
                .satisfies(it -> assertThat(it.attempt()).isEqualTo(3));
    }

    /** An interrupt that stays would keep the relay from ever pausing, and pools from giving it a connection. */
    @Test
    void interruptOfPublisherIsCleared() {
        receiver.answering(it -> {
            Thread.currentThread().interrupt();
            return PublishResult.published();
        });
        box.append(message("a", "a1"), message("a", "a2"), message("a", "a3"));
        box.start(receiver);
        box.awaitEmpty();

        assertThat(receiver.texts()).containsExactly("a1", "a2", "a3");
    }

    @Test
    void messageWithoutAnswerDelaysNoOther() {
        receiver.answeringLater(it -> Receiver.text(it.message()).equals("lost") && it.attempt() == 1
                ? new CompletableFuture<>()
                : CompletableFuture.completedFuture(PublishResult.published()));
        box.append(unordered("lost"), unordered("b"), message("c", "c1"), message("c", "c2"));
        Queue<String> reasons = new ConcurrentLinkedQueue<>();
        box.start(box.relay(receiver).publishTimeout(Duration.ofMillis(500)).listener(new OutboxListener() {
            @Override
            public void failed(Outgoing message, String reason, Duration retryIn) {
                reasons.add(reason);
            }
        }));
        box.awaitEmpty();

        assertThat(receiver.texts()).containsExactlyInAnyOrder("b", "c1", "c2", "lost");
        assertThat(receiver.texts()).last().isEqualTo("lost");
        assertThat(reasons).containsExactly("no answer within PT0.5S");
    }

    @Test
    void retryAfterIsHonoured() {
        receiver.answering(it -> new PublishResult.Failed("too many", Duration.ofHours(1)));
        box.append(unordered("patient"));
        box.start(receiver);

        TestOutbox.await().until(() -> box.database.queryLong("""
                SELECT count(*) FROM hapax_outbox_messages
                WHERE state = 'BACKING_OFF' AND due > clock_timestamp() + interval '59 minutes'""") == 1);
    }

    @Test
    void messageThatKillsItsRelaysIsParked() {
        box.append(message("a", "deadly"), message("a", "innocent"));
        box.database.execute("""
                UPDATE hapax_outbox SET state = 1, attempt = 5, token = gen_random_uuid(), due = clock_timestamp()
                WHERE seq = (SELECT min(seq) FROM hapax_outbox)""");
        box.start(box.relay(receiver).maxAttempts(5));
        TestOutbox.await().until(() -> box.inspector.lag().parked() == 1);

        assertThat(box.inspector.parked(1).get(0).reason()).contains("went away");
        assertThat(receiver.accepted()).isEmpty();
    }

    /** What waits behind a message that cannot be delivered is not looked at again and again. */
    @Test
    void longQueueBehindParkedMessageDelaysNoOther() {
        receiver.answering(it ->
                Receiver.text(it.message()).equals("poison") ? PublishResult.refused("no") : PublishResult.published());
        List<OutboxMessage> messages = new ArrayList<>(List.of(message("a", "poison")));
        for (int i = 0; i < 3_000; i++) {
            messages.add(message("a", "behind " + i));
        }
        box.append(messages);
        box.start(box.relay(receiver).batch(100));
        box.awaitWaiting(3_000);

        box.append(unordered("another"));
        TestOutbox.await().until(() -> receiver.texts().equals(List.of("another")));
    }

    @Test
    void wokenRelayPublishesAtOnce() {
        OutboxRelay relay = box.start(box.relay(receiver).pollEvery(Duration.ofHours(1)));
        for (int i = 0; i < 10; i++) {
            int expected = i + 1;
            box.append(unordered("news"));
            relay.wake();
            TestOutbox.await().until(() -> receiver.accepted().size() == expected);
        }
    }

    @Test
    void listenersAreNotifiedOfMessagesAndLag() {
        Set<UUID> published = ConcurrentHashMap.newKeySet();
        Queue<OutboxLag> lags = new ConcurrentLinkedQueue<>();
        Queue<String> parked = new ConcurrentLinkedQueue<>();
        receiver.answering(it ->
                Receiver.text(it.message()).equals("poison") ? PublishResult.refused("no") : PublishResult.published());
        OutboxMessage good = unordered("good");
        box.append(good, unordered("poison"));
        box.start(box.relay(receiver).lagEvery(Duration.ofMillis(20)).listener(new OutboxListener() {
            @Override
            public void published(Outgoing message) {
                published.add(message.message().id());
                throw new IllegalStateException("listeners cannot stop a relay");
            }

            @Override
            public void parked(Outgoing message, String reason) {
                parked.add(Receiver.text(message.message()) + ": " + reason);
            }

            @Override
            public void lag(OutboxLag lag) {
                lags.add(lag);
            }
        }));

        TestOutbox.await().until(() -> published.equals(Set.of(good.id())));
        TestOutbox.await().until(() -> parked.contains("poison: no"));
        TestOutbox.await().until(() -> lags.contains(new OutboxLag(0, Duration.ZERO, 1)));
    }

    @Test
    void lagHasDepthAndAge() {
        assertThat(box.inspector.lag()).isEqualTo(new OutboxLag(0, Duration.ZERO, 0));
        box.append(unordered("old"), unordered("new"));
        box.database.execute("UPDATE hapax_outbox SET created_at = created_at - interval '1 hour'");

        OutboxLag lag = box.inspector.lag();

        assertThat(lag.depth()).isEqualTo(2);
        assertThat(lag.oldest()).isBetween(Duration.ofHours(1), Duration.ofMinutes(61));
    }

    @Test
    void closeWaitsForMessagesInFlight() throws Exception {
        CompletableFuture<PublishResult> answer = new CompletableFuture<>();
        receiver.answeringLater(it -> answer);
        box.append(message("a", "a1"), message("a", "a2"));
        OutboxRelay relay = box.start(receiver);
        box.awaitLeased();
        Thread closer = new Thread(relay::close);
        closer.start();
        TestOutbox.await().until(() -> closer.getState() == Thread.State.TIMED_WAITING);
        answer.complete(PublishResult.published());
        closer.join();

        assertThat(receiver.texts()).containsExactly("a1");
        assertThat(box.rows()).isEqualTo(1);
    }

    @Test
    void simpleQueryModeIsRefused() {
        Queue<String> reasons = new ConcurrentLinkedQueue<>();
        box.append(unordered("never"));
        box.start(OutboxRelay.over(TestDatabase.unpooled(box.database.jdbcUrl() + "&preferQueryMode=simple"), receiver)
                .listener(new OutboxListener() {
                    @Override
                    public void unavailable(StoreException cause) {
                        reasons.add(String.valueOf(cause.getMessage()));
                    }
                }));
        TestOutbox.await().until(() -> !reasons.isEmpty());

        assertThat(reasons.peek()).contains("preferQueryMode=simple");
        assertThat(receiver.accepted()).isEmpty();
    }

    /** Messages that are published until their lease ends would not be removed in time. */
    @Test
    void leaseHasTimeLeftToRecordTheResult() {
        assertThat(settings(30, 10, 10).forOneMore()).isEqualTo(Duration.ofSeconds(20));
        assertThat(settings(30, 10, 2).forOneMore()).isEqualTo(Duration.ofSeconds(12));
        assertThat(settings(4, 2, 10).forOneMore()).isEqualTo(Duration.ofSeconds(3));
    }

    private static RelaySettings settings(int lease, int publishTimeout, int ioTimeout) {
        return new RelaySettings(
                10,
                Duration.ofSeconds(lease),
                Duration.ofSeconds(publishTimeout),
                Duration.ofSeconds(ioTimeout),
                Duration.ofSeconds(1),
                10,
                new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(1)),
                WhenParked.WAIT);
    }

    @Test
    void contradictorySettingsAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> box.relay(receiver).lease(Duration.ofSeconds(15)).start())
                .withMessageContaining("at least twice the publishTimeout");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> box.relay(receiver).batch(0).start());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> box.relay(receiver).maxAttempts(0).start());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> box.relay(receiver)
                        .backoff(Duration.ofSeconds(2), Duration.ofSeconds(1))
                        .start());
    }
}
