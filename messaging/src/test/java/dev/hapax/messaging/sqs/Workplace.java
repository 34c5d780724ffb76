package dev.hapax.messaging.sqs;

import dev.hapax.Hapax;
import dev.hapax.HapaxListener;
import dev.hapax.Lease;
import dev.hapax.Policy;
import dev.hapax.memory.MemoryStore;
import dev.hapax.messaging.Backoff;
import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.messaging.MessageHandler;
import dev.hapax.store.OperationKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/** A store in memory, consumers over it, and what their handlers saw. Closes what it started. */
final class Workplace implements AutoCloseable {
    static final String NAME = "mailer";

    final List<String> handled = new CopyOnWriteArrayList<>();
    final AtomicInteger repeats = new AtomicInteger();
    final Hapax hapax = Hapax.on(new MemoryStore())
            .scope(NAME, Policy.defaults().lease(Duration.ofSeconds(5)))
            .listener(new HapaxListener() {
                @Override
                public void replayed(OperationKey key) {
                    repeats.incrementAndGet();
                }
            })
            .build();
    private final List<AutoCloseable> closed = new ArrayList<>();

    IdempotentConsumer<SqsMessage> consumer(MessageHandler<SqsMessage> handler) {
        return consumer(handler, it -> it);
    }

    IdempotentConsumer<SqsMessage> consumer(
            MessageHandler<SqsMessage> handler, UnaryOperator<IdempotentConsumer.Builder<SqsMessage>> settings) {
        return settings.apply(SqsMessages.consumer(NAME, hapax)
                        .key(SqsMessages.attribute("key"))
                        .backoff(new Backoff(Duration.ofMillis(50), Duration.ofMillis(200))))
                .handling((message, lease) -> handle(handler, message, lease));
    }

    private void handle(MessageHandler<SqsMessage> handler, SqsMessage message, Lease lease) throws Exception {
        handler.handle(message, lease);
        handled.add(message.body());
    }

    SqsConsumerLoop start(SqsConsumerLoop.Builder loop) {
        return closing(loop.start());
    }

    <T extends AutoCloseable> T closing(T it) {
        closed.add(0, it);
        return it;
    }

    @Override
    public void close() throws Exception {
        for (AutoCloseable it : closed) {
            it.close();
        }
        hapax.close();
    }
}
