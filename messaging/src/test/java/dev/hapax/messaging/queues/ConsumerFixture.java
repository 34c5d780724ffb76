package dev.hapax.messaging.queues;

import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.memory.MemoryStore;
import dev.hapax.messaging.Backoff;
import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.messaging.MessageHandler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;

/**
 * Consumers over a store in memory, and the bodies of the messages that they handled. Closes what the test opened.
 *
 * @param <M> a broker's message
 */
public final class ConsumerFixture<M> implements AutoCloseable {
    static {
        Awaitility.setDefaultTimeout(Duration.ofMinutes(1)); // the machine may be busy
    }

    public static final String NAME = "mailer";

    public final List<String> handled = new CopyOnWriteArrayList<>();
    public final Observations observed = new Observations();
    public final Hapax hapax = Hapax.on(new MemoryStore())
            .scope(NAME, Policy.defaults().lease(Duration.ofSeconds(5)))
            .listener(observed)
            .build();

    private final BiFunction<String, Hapax, IdempotentConsumer.Builder<M>> builders;
    private final Function<M, String> body;
    private final List<AutoCloseable> opened = new ArrayList<>();

    /** @param builders such as {@code RabbitMessages::consumer} */
    public ConsumerFixture(
            BiFunction<String, Hapax, IdempotentConsumer.Builder<M>> builders, Function<M, String> body) {
        this.builders = builders;
        this.body = body;
    }

    public IdempotentConsumer<M> consumer(MessageHandler<M> handler) {
        return consumer(handler, it -> it);
    }

    public IdempotentConsumer<M> consumer(
            MessageHandler<M> handler, UnaryOperator<IdempotentConsumer.Builder<M>> settings) {
        return settings.apply(
                        builders.apply(NAME, hapax).backoff(new Backoff(Duration.ofMillis(50), Duration.ofMillis(200))))
                .handling((message, lease) -> {
                    handler.handle(message, lease);
                    handled.add(body.apply(message));
                });
    }

    /** Whether the end of the operation with this key is stored. */
    public boolean isTerminal(String key) {
        return hapax.scope(NAME)
                .key(key)
                .find()
                .toCompletableFuture()
                .join()
                .filter(it -> it.result() != null)
                .isPresent();
    }

    /** Closes it when the test ends, before what was opened earlier. */
    public <T extends AutoCloseable> T closing(T it) {
        opened.add(0, it);
        return it;
    }

    @Override
    public void close() throws Exception {
        for (AutoCloseable it : opened) {
            it.close();
        }
        hapax.close();
    }
}
