package dev.hapax.messaging.kafka;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Sends dead letters on threads of its own: a producer may block for a minute, and must block neither handlers nor the
 * engine. The letters of one topic are sent one after the other. If the place for them cannot be reached, those of
 * other topics do not wait for it. Safe for use by many threads.
 */
final class DeadLetterSender implements AutoCloseable {
    private static final int MAX_WAITING = 10_000;

    private final DeadLetters deadLetters;
    private final TopicQueues queues;

    DeadLetterSender(DeadLetters deadLetters, String consumer) {
        this.deadLetters = deadLetters;
        this.queues = new TopicQueues("hapax-kafka-dead-letters-" + consumer, MAX_WAITING);
    }

    /** Completes when the letter is known to be kept, and fails if it was not, or if too many letters wait. */
    CompletionStage<?> send(DeadLetter letter) {
        PendingLetter pending = new PendingLetter(letter);
        try {
            queues.add(letter.record().topic(), pending);
        } catch (RejectedExecutionException full) {
            pending.complete(full);
        }
        return pending.kept;
    }

    private final class PendingLetter implements TopicQueues.Send {
        private final DeadLetter letter;
        private final CompletableFuture<@Nullable Void> kept = new CompletableFuture<>();
        private volatile @Nullable Throwable error;

        PendingLetter(DeadLetter letter) {
            this.letter = letter;
        }

        @Override
        public TopicQueues.Reached run() {
            try {
                Objects.requireNonNull(deadLetters.keep(letter), "no stage for a dead letter")
                        .whenComplete((ignored, failure) -> complete(failure));
            } catch (Throwable thrown) { // by code of the user: it may be anything
                complete(thrown);
            }
            // A producer that waited for the topic in vain has called back by now.
            return error instanceof TimeoutException ? TopicQueues.Reached.NO : TopicQueues.Reached.YES;
        }

        @Override
        public void abandon() {
            complete(new TimeoutException("the dead letter before it could not be sent in time"));
        }

        private void complete(@Nullable Throwable failure) {
            error = failure;
            if (failure == null) {
                kept.complete(null);
            } else {
                kept.completeExceptionally(failure);
            }
        }
    }

    /** Letters that wait are not sent: their records are not settled, and the next owner rejects them again. */
    @Override
    public void close() {
        queues.abort();
    }
}
