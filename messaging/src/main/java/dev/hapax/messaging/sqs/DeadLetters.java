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
     * Sent to a queue, with attributes that say why and who; then deleted. The queue of a FIFO queue's dead letters is
     * a FIFO queue as well.
     */
    public static DeadLetters toQueue(String queueUrl) {
        return new DeadLetters(Objects.requireNonNull(queueUrl, "queueUrl"));
    }

    /**
     * Left to the redrive policy of the queue: the message is not deleted, and comes again until SQS has delivered it
     * as often as the policy allows. It is not handled again meanwhile. In a FIFO queue its group waits until then;
     * without a redrive policy it comes again until SQS forgets it.
     */
    public static DeadLetters byRedrive() {
        return new DeadLetters(null);
    }

    @Nullable
    String queueUrl() {
        return queueUrl;
    }
}
