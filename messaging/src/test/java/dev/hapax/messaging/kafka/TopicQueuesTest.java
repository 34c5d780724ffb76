package dev.hapax.messaging.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TopicQueuesTest {
    private final TopicQueues queues = new TopicQueues("test", 2);
    private final CountDownLatch gate = new CountDownLatch(1);
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch sent = new CountDownLatch(2);

    @AfterEach
    void close() {
        gate.countDown();
        queues.close();
    }

    @Test
    void sendThatThrowsStopsNoOther() throws Exception {
        queues.add("t", send(() -> {
            throw new AssertionError("must not");
        }));
        queues.add("t", send(sent::countDown));
        queues.add("u", send(sent::countDown));
        assertThat(sent.await(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void sendsThatWaitAreLimited() throws Exception {
        queues.add("t", send(() -> {
            begun.countDown();
            awaitGate();
        }));
        begun.await();
        queues.add("t", send(sent::countDown));
        queues.add("t", send(sent::countDown));
        assertThatThrownBy(() -> queues.add("t", send(() -> {}))).isInstanceOf(RejectedExecutionException.class);
        gate.countDown();
        assertThat(sent.await(30, TimeUnit.SECONDS)).isTrue();
    }

    private void awaitGate() {
        try {
            gate.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static TopicQueues.Send send(Runnable task) {
        return new TopicQueues.Send() {
            @Override
            public boolean run() {
                task.run();
                return true;
            }

            @Override
            public void abandon() {
                task.run();
            }
        };
    }
}
