package dev.hapax.postgres.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.outbox.OutboxMessage;
import dev.hapax.outbox.Outgoing;
import dev.hapax.outbox.PublishResult;
import dev.hapax.postgres.PostgresStore;
import dev.hapax.testkit.ChildJvm;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class KilledRelayIT {
    private static final int MESSAGES = 20;

    private final TestOutbox box = new TestOutbox();
    private final Queue<Integer> attempts = new ConcurrentLinkedQueue<>();

    @AfterEach
    void close() {
        box.close();
    }

    @Test
    void messagesOfKilledRelayComeAgainWithTheirIds() throws Exception {
        box.database.execute("CREATE TABLE received (seq bigint GENERATED ALWAYS AS IDENTITY, id uuid)");
        List<OutboxMessage> messages = new ArrayList<>();
        for (int i = 0; i < MESSAGES; i++) {
            messages.add(Receiver.message("order-" + i, "message " + i));
        }
        box.append(messages);
        try (ChildJvm relay = ChildJvm.start(KilledRelay.class, List.of(box.database.jdbcUrl()))) {
            assertThat(relay.awaitLine("published")).isEqualTo("published " + MESSAGES);
            relay.kill();
        }
        assertThat(received()).as("all are with the broker").isEqualTo(MESSAGES);
        assertThat(box.leased()).as("and all are leased by the killed relay").isEqualTo(MESSAGES);

        box.start(box.relay(this::deliver));
        box.awaitEmpty();

        assertThat(received()).isEqualTo(2 * MESSAGES);
        assertThat(attempts)
                .as("taken over from the killed relay")
                .hasSize(MESSAGES)
                .containsOnly(2);
        assertThat(box.database.queryLong("SELECT count(DISTINCT id) FROM received"))
                .isEqualTo(MESSAGES);
        assertThat(effectsOfAReceiverThatDropsDuplicates()).isEqualTo(MESSAGES);
    }

    private List<CompletionStage<PublishResult>> deliver(List<Outgoing> messages) {
        List<CompletionStage<PublishResult>> answers = new ArrayList<>();
        for (Outgoing message : messages) {
            attempts.add(message.attempt());
            box.database.execute(
                    "INSERT INTO received (id) VALUES ('" + message.message().id() + "')");
            answers.add(CompletableFuture.completedStage(PublishResult.published()));
        }
        return answers;
    }

    private int effectsOfAReceiverThatDropsDuplicates() {
        AtomicInteger effects = new AtomicInteger();
        try (PostgresStore store = PostgresStore.over(box.pool);
                Hapax hapax = Hapax.on(store).scope("mails", Policy.defaults()).build()) {
            for (String id : box.database
                    .query("SELECT string_agg(id::text, ',' ORDER BY seq) FROM received")
                    .split(",", -1)) {
                hapax.scope("mails").key(UUID.fromString(id).toString()).run(lease -> {
                    effects.incrementAndGet();
                    return new byte[0];
                });
            }
        }
        return effects.get();
    }

    private long received() {
        return box.database.queryLong("SELECT count(*) FROM received");
    }
}
