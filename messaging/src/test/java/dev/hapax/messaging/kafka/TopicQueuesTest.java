package dev.hapax.messaging.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.messaging.kafka.TopicQueues.Reached;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class TopicQueuesTest {
    private static final int MAX_WAITING = 10;

    private final TopicQueues queues = new TopicQueues("test", MAX_WAITING);

    @AfterEach
    void close() {
        queues.close();
    }

    private static final class TestSend implements TopicQueues.Send {
        final CompletableFuture<String> result = new CompletableFuture<>();
        private final Supplier<Reached> behaviour;

        TestSend(Supplier<Reached> behaviour) {
            this.behaviour = behaviour;
        }

        @Override
        public Reached run() {
            Reached reached = behaviour.get();
            result.complete("run");
            return reached;
        }

        @Override
        public void abandon() {
            result.complete("abandoned");
        }
    }

    private String result(TestSend send) throws Exception {
        return send.result.get(60, TimeUnit.SECONDS);
    }

    @Test
    void sendThatThrowsIsAbandonedAndItsQueueGoesOn() throws Exception {
        CompletableFuture<Void> added = new CompletableFuture<>();
        TestSend broken = new TestSend(() -> {
            added.join();
            throw new AssertionError("an Error, not an exception");
        });
        TestSend behind = new TestSend(() -> Reached.YES);
        queues.add("orders", broken);
        queues.add("orders", behind);
        added.complete(null);

        assertThat(result(broken)).isEqualTo("abandoned");
        assertThat(result(behind)).isEqualTo("run");
        TestSend later = new TestSend(() -> Reached.YES);
        queues.add("orders", later);
        assertThat(result(later)).isEqualTo("run");
    }

    @Test
    void sendThatCannotBeAbandonedHoldsBackNoOther() throws Exception {
        CompletableFuture<Void> added = new CompletableFuture<>();
        TopicQueues.Send stubborn = new TopicQueues.Send() {
            @Override
            public Reached run() {
                return Reached.YES;
            }

            @Override
            public void abandon() {
                throw new IllegalStateException("never");
            }
        };
        TestSend behind = new TestSend(() -> Reached.YES);
        queues.add("missing", new TestSend(() -> {
            added.join();
            return Reached.NO;
        }));
        queues.add("missing", stubborn);
        queues.add("missing", behind);
        added.complete(null);

        assertThat(result(behind)).isEqualTo("abandoned");
    }

    @Test
    void sendsThatWaitAreLimited() throws Exception {
        CompletableFuture<Void> begun = new CompletableFuture<>();
        CompletableFuture<Void> gate = new CompletableFuture<>();
        TestSend first = new TestSend(() -> {
            begun.complete(null);
            gate.join();
            return Reached.YES;
        });
        queues.add("orders", first);
        begun.get(60, TimeUnit.SECONDS);
        for (int i = 0; i < MAX_WAITING; i++) {
            queues.add("orders", new TestSend(() -> Reached.YES));
        }

        assertThatThrownBy(() -> queues.add("orders", new TestSend(() -> Reached.YES)))
                .isInstanceOf(RejectedExecutionException.class);
        gate.complete(null);
        assertThat(result(first)).isEqualTo("run");
    }
}
