package dev.hapax.messaging.kafka;

import dev.hapax.messaging.internal.DaemonThreads;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;

/**
 * Sends dead letters one after the other, on a thread of its own: a producer may block for a minute, and must block
 * neither handlers nor the engine. Safe for use by many threads.
 */
final class DeadLetterSender implements AutoCloseable {
    private static final int MAX_WAITING = 10_000;

    private final DeadLetters deadLetters;
    private final ThreadPoolExecutor thread;

    DeadLetterSender(DeadLetters deadLetters, String consumer) {
        this.deadLetters = deadLetters;
        this.thread = DaemonThreads.pool(1, MAX_WAITING, "hapax-kafka-dead-letters-" + consumer);
    }

    /** Completes when the letter is known to be kept, and fails if it was not, or if too many letters wait. */
    CompletionStage<?> send(DeadLetter letter) {
        try {
            return CompletableFuture.supplyAsync(
                            () -> Objects.requireNonNull(deadLetters.keep(letter), "no stage for a dead letter"),
                            thread)
                    .thenCompose(kept -> kept);
        } catch (RejectedExecutionException full) {
            return CompletableFuture.failedFuture(full);
        }
    }

    /** Letters that wait are not sent: their records are not settled, and the next owner rejects them again. */
    @Override
    public void close() {
        thread.shutdownNow();
    }
}
