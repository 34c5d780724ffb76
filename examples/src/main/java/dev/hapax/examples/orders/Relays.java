package dev.hapax.examples.orders;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.messaging.rabbit.RabbitPublisher;
import dev.hapax.outbox.Outgoing;
import dev.hapax.outbox.PublishResult;
import dev.hapax.outbox.Publisher;
import dev.hapax.postgres.outbox.OutboxRelay;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Two relays, one after the other, between the outbox and the broker, with bad luck: some confirmations of the broker
 * get lost, and the first relay is cut off from its database when the broker has messages that it did not mark as
 * published yet. In both cases the broker gets the same messages, with the same ids, again. Safe for use by many
 * threads.
 */
final class Relays implements Publisher, AutoCloseable {
    /** Of so many messages, the broker's confirmation of one is lost. */
    private static final int CONFIRMATION_LOST = 6;

    private static final Duration LEASE = Duration.ofSeconds(2);

    private final Servers servers;
    private final Tally tally;
    private final Timeline timeline;
    private final RabbitPublisher broker;
    private final int crashFrom;
    private final int crashAfter;

    private final AtomicInteger numbers = new AtomicInteger();
    private final List<CompletableFuture<PublishResult>> unmarked = new ArrayList<>();
    private final CompletableFuture<Void> crashed = new CompletableFuture<>();
    private boolean crashing;

    private final Relay first;
    private volatile @Nullable Relay second;

    /** A relay with a way to the database of its own. */
    private record Relay(OutboxRelay relay, HikariDataSource pool) implements AutoCloseable {
        @Override
        public void close() {
            relay.close();
            pool.close();
        }
    }

    /** @param orders how many there will be: the first relay gets through a quarter of them */
    Relays(Servers servers, int orders, Tally tally, Timeline timeline) {
        this.servers = servers;
        this.tally = tally;
        this.timeline = timeline;
        crashFrom = (orders + 3) / 4;
        crashAfter = Math.max(1, orders / 10);
        broker = RabbitPublisher.toQueues(servers.broker().connections());
        first = relay();
    }

    private Relay relay() {
        HikariDataSource pool = servers.ordersForRelay();
        OutboxRelay relay = OutboxRelay.over(pool, this)
                .lease(LEASE)
                .publishTimeout(LEASE.dividedBy(2))
                .backoff(Duration.ofMillis(100), Duration.ofSeconds(1))
                .start();
        return new Relay(relay, pool);
    }

    /** There is something in the outbox. */
    void wake() {
        Relay now = second;
        (now == null ? first : now).relay().wake();
    }

    @Override
    public List<CompletionStage<PublishResult>> publish(List<Outgoing> messages) {
        List<CompletionStage<PublishResult>> answers = broker.publish(messages);
        List<CompletionStage<PublishResult>> told = new ArrayList<>();
        for (int i = 0; i < messages.size(); i++) {
            Outgoing message = messages.get(i);
            told.add(answers.get(i).thenCompose(result -> {
                if (result instanceof PublishResult.Published) {
                    tally.published(message.message().id());
                    return published(message);
                }
                return CompletableFuture.completedStage(result);
            }));
        }
        return told;
    }

    /** The broker has it. What the relay hears of that is another matter. */
    private CompletionStage<PublishResult> published(Outgoing message) {
        if (message.attempt() > 1) {
            return CompletableFuture.completedStage(PublishResult.published());
        }
        int number = numbers.incrementAndGet();
        if (number % CONFIRMATION_LOST == 0) {
            tally.confirmationsLost.increment();
            return CompletableFuture.completedStage(PublishResult.failed("the confirmation was lost"));
        }
        return number < crashFrom ? CompletableFuture.completedStage(PublishResult.published()) : toBeLost();
    }

    /** Held back until there are enough of them; then the relay hears of all, too late to do anything about it. */
    private synchronized CompletionStage<PublishResult> toBeLost() {
        if (crashing) {
            return crashed.thenApply(done -> PublishResult.published());
        }
        CompletableFuture<PublishResult> heard = new CompletableFuture<>();
        unmarked.add(heard);
        if (unmarked.size() >= crashAfter) {
            crashing = true;
            CompletableFuture.runAsync(this::crash);
        }
        return heard;
    }

    private void crash() {
        first.pool().close();
        timeline.mishap("relay 1 is cut off from its database: the broker has %s that %s not marked as published"
                .formatted(
                        Timeline.count(unmarked.size(), "message", "messages"), unmarked.size() == 1 ? "is" : "are"));
        crashed.complete(null);
        unmarked.forEach(heard -> heard.complete(PublishResult.published()));
        second = relay();
        timeline.say("relay 2 takes over; what relay 1 had in hand is free after a lease of " + LEASE.toSeconds()
                + " s and is published again");
    }

    @Override
    public void close() {
        first.close();
        Relay now = second;
        if (now != null) {
            now.close();
        }
        broker.close();
    }
}
