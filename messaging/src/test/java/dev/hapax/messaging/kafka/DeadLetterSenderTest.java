package dev.hapax.messaging.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class DeadLetterSenderTest {
    private final CountDownLatch blocked = new CountDownLatch(1);
    private final CountDownLatch unblocked = new CountDownLatch(1);
    private final List<Long> tried = new CopyOnWriteArrayList<>();
    private final DeadLetterSender sender = new DeadLetterSender(this::keep, "mailer");

    /** As a producer does: a send to a topic that does not exist blocks, and fails when it returns. */
    private CompletionStage<?> keep(DeadLetter letter) {
        tried.add(letter.record().offset());
        if (letter.record().topic().equals("broken")) {
            throw new IllegalStateException("broken");
        }
        if (!letter.record().topic().equals("missing")) {
            return CompletableFuture.completedFuture(null);
        }
        blocked.countDown();
        try {
            unblocked.await();
        } catch (InterruptedException e) {
            return CompletableFuture.failedFuture(e);
        }
        return CompletableFuture.failedFuture(new TimeoutException("not in the metadata"));
    }

    @AfterEach
    void close() {
        sender.close();
    }

    @Test
    void blockedTopicDelaysNoOtherTopic() throws Exception {
        CompletableFuture<?> missing = send("missing", 0);
        blocked.await();
        send("good", 1).get(60, TimeUnit.SECONDS);
        assertThat(missing).isNotDone();
    }

    @Test
    void lettersBehindBlockedOneFailWithIt() throws Exception {
        CompletableFuture<?> first = send("missing", 0);
        blocked.await();
        CompletableFuture<?> second = send("missing", 1);
        unblocked.countDown();
        assertThatThrownBy(() -> first.get(60, TimeUnit.SECONDS)).hasCauseInstanceOf(TimeoutException.class);
        assertThatThrownBy(() -> second.get(60, TimeUnit.SECONDS)).hasCauseInstanceOf(TimeoutException.class);
        assertThat(tried).containsExactly(0L);
    }

    @Test
    void letterThatCannotBeKeptFailsAlone() {
        CompletableFuture<?> first = send("broken", 0);
        CompletableFuture<?> second = send("broken", 1);
        assertThatThrownBy(() -> first.get(60, TimeUnit.SECONDS)).hasCauseInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> second.get(60, TimeUnit.SECONDS)).hasCauseInstanceOf(IllegalStateException.class);
        assertThat(tried).containsExactly(0L, 1L);
    }

    @Test
    void closedSenderSendsNoMore() throws Exception {
        send("missing", 0);
        blocked.await();
        send("missing", 1);
        sender.close();
        assertThat(send("good", 2)).isCompletedExceptionally();
        assertThat(tried).containsExactly(0L);
    }

    private CompletableFuture<?> send(String topic, long offset) {
        ConsumerRecord<byte[], byte[]> record = new ConsumerRecord<>(topic, 0, offset, null, new byte[0]);
        return sender.send(new DeadLetter(record, "mailer", "a reason")).toCompletableFuture();
    }
}
