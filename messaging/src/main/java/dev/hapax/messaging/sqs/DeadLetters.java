package dev.hapax.messaging.sqs;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Where rejected messages go. */
public final class DeadLetters {
    public static final String REASON = "hapax-dead-letter-reason";
    public static final String CONSUMER = "hapax-dead-letter-consumer";

    private final @Nullable String queueUrl;

    private DeadLetters(@Nullable String queueUrl) {
        this.queueUrl = queueUrl;
    }

    /**
     * Sends rejected messages to a queue, with attributes that say why and by which consumer, then deletes them. The
     * dead letters of a FIFO queue need a FIFO queue as well.
     */
    public static DeadLetters toQueue(String queueUrl) {
        return new DeadLetters(Objects.requireNonNull(queueUrl, "queueUrl"));
    }

    /**
     * Leaves rejected messages to the redrive policy of the queue: a message is not deleted, and is received again,
     * without being handled, until SQS has delivered it as often as the policy allows. Without a redrive policy it is
     * received again until SQS's retention period ends. Not for FIFO queues: those behind it in its group would be
     * received again with it, and the policy could take them before they were ever handled.
     */
    public static DeadLetters byRedrive() {
        return new DeadLetters(null);
    }

    @Nullable
    String queueUrl() {
        return queueUrl;
    }
}
