package dev.hapax.messaging.sqs;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A message that SQS hides from others while this loop has it. Confined to the loop's thread, except what is final. */
final class ReceivedMessage {
    final SqsMessage message;
    final @Nullable String group;
    final long receivedAt;
    long notBefore;

    /** When SQS shows it to others again, unless asked not to. */
    long hiddenUntil;

    /** The latest request to change its visibility; done once SQS has answered, and before the first one. */
    CompletableFuture<Boolean> visibilityChange = CompletableFuture.completedFuture(true);

    State state = State.WAITING;

    enum State {
        /** Waits for its time, or for those of its group that are in front of it. */
        WAITING,
        /** The engine has it. */
        PROCESSING,
        /** SQS is to delete it, to show it to others, or to take its dead letter. */
        SETTLING,
        /** The loop has let go of it. */
        SETTLED
    }

    ReceivedMessage(SqsMessage message, @Nullable String group, long receivedAt, Duration visibility) {
        this.message = message;
        this.group = group;
        this.receivedAt = receivedAt;
        this.hiddenUntil = receivedAt + visibility.toNanos();
        this.notBefore = receivedAt;
    }
}
