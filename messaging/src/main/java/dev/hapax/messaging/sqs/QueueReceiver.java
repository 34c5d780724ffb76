package dev.hapax.messaging.sqs;

import dev.hapax.messaging.Backoff;
import dev.hapax.messaging.internal.ActionQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives from a queue while there is room: one request at a time while the queue has little, more as long as they
 * come back full. Pauses, longer each time, while SQS cannot be reached. Confined to the loop's thread, except
 * {@link #isAnswered}.
 */
final class QueueReceiver {
    private static final Logger log = LoggerFactory.getLogger(QueueReceiver.class);
    private static final Backoff RETRY = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(15));
    private static final int MAX_BATCH_SIZE = 10;
    private static final int MAX_CONCURRENT_REQUESTS = 8;

    private final Requests requests;
    private final ActionQueue actions;
    private final Consumer<SqsMessage> arrived;
    private final List<CompletableFuture<List<SqsMessage>>> pending = new ArrayList<>();
    private int concurrentRequests = 1;
    private int expected;
    private int failures;
    private long notBefore = System.nanoTime();
    private volatile boolean answered;

    /** @param arrived gets every message, on the loop's thread */
    QueueReceiver(Requests requests, ActionQueue actions, Consumer<SqsMessage> arrived) {
        this.requests = requests;
        this.actions = actions;
        this.arrived = arrived;
    }

    /** @param room how many messages may arrive, those included that requests under way may bring */
    void receive(int room) {
        while (pending.size() < concurrentRequests && notBefore - System.nanoTime() <= 0) {
            int batch = Math.min(MAX_BATCH_SIZE, room - expected);
            if (batch <= 0) {
                return;
            }
            CompletableFuture<List<SqsMessage>> request = requests.receive(batch);
            pending.add(request);
            expected += batch;
            request.whenComplete((messages, error) -> actions.submit(() -> {
                pending.removeIf(it -> it == request);
                received(batch, messages, error);
            }));
        }
    }

    private void received(int batch, @Nullable List<SqsMessage> messages, @Nullable Throwable error) {
        expected -= batch;
        answered = messages != null;
        if (messages == null) {
            pause(error);
            return;
        }
        failures = 0;
        concurrentRequests = messages.size() < batch ? 1 : Math.min(2 * concurrentRequests, MAX_CONCURRENT_REQUESTS);
        messages.forEach(arrived);
    }

    private void pause(@Nullable Throwable error) {
        failures++;
        concurrentRequests = 1;
        Duration pause = RETRY.after(failures);
        notBefore = System.nanoTime() + pause.toNanos();
        log.warn(
                "Cannot receive from {}, retry in {} ms: {}",
                requests.queueUrl(),
                pause.toMillis(),
                String.valueOf(error));
    }

    /** When the next request may be sent after a failure; {@code latest} if that is sooner, or nothing failed. */
    long nextRequest(long latest) {
        return failures > 0 && pending.isEmpty() ? Math.min(latest, notBefore) : latest;
    }

    /** Whether no request is under way. */
    boolean isIdle() {
        return pending.isEmpty();
    }

    /** Whether SQS has answered the latest request. */
    boolean isAnswered() {
        return answered;
    }

    /** Shows to others what requests that are still under way bring after the loop's end. */
    void releaseLateMessages() {
        for (CompletableFuture<List<SqsMessage>> request : pending) {
            request.thenAccept(messages -> {
                messages.forEach(message -> requests.changeVisibility(message, Duration.ZERO));
                requests.flush();
            });
        }
    }
}
