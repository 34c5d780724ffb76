package dev.hapax.messaging.sqs;

import org.jspecify.annotations.Nullable;

/** A message that SQS hides from others for our sake. Belongs to the loop's thread, but for what is final. */
final class Received {
    final SqsMessage message;
    final @Nullable String group;
    final long since;
    long hiddenUntil;
    long notBefore;
    State state = State.WAITING;

    enum State {
        /** For its time, or for those of its group that are in front of it. */
        WAITING,
        /** For the engine's answer. */
        ASKED,
        /** For SQS to delete it, or to take its dead letter. */
        LEAVING,
        /** It has left, one way or the other. */
        GONE
    }

    /** @param hiddenUntil when SQS shows it to others again, unless asked not to */
    Received(SqsMessage message, @Nullable String group, long now, long hiddenUntil) {
        this.message = message;
        this.group = group;
        this.since = now;
        this.hiddenUntil = hiddenUntil;
        this.notBefore = now;
    }

    String handle() {
        return message.message().receiptHandle();
    }
}
