package dev.hapax.messaging.sqs;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;

/**
 * A message as SQS delivered it.
 *
 * @param message what the SDK made of it
 */
public record SqsMessage(Message message) {
    public SqsMessage {
        Objects.requireNonNull(message, "message");
    }

    /** What SQS called the message when it was sent. */
    public String messageId() {
        return message.messageId();
    }

    public String body() {
        return message.body();
    }

    /** The group whose order it is part of; only in FIFO queues. */
    public @Nullable String groupId() {
        return message.attributes().get(MessageSystemAttributeName.MESSAGE_GROUP_ID);
    }

    /** What the sender called the message; only in FIFO queues. */
    public @Nullable String deduplicationId() {
        return message.attributes().get(MessageSystemAttributeName.MESSAGE_DEDUPLICATION_ID);
    }

    /** A message attribute of the sender's, if there is one of that name and it is a text or a number. */
    public @Nullable String attribute(String name) {
        MessageAttributeValue value = message.messageAttributes().get(name);
        return value == null ? null : value.stringValue();
    }

    /** How often SQS has delivered it, this time included; roughly. */
    public int receiveCount() {
        String count = message.attributes().get(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT);
        return count == null ? 1 : Integer.parseInt(count);
    }

    @Override
    public String toString() {
        return "SqsMessage[%s, group %s, received %d times]".formatted(messageId(), groupId(), receiveCount());
    }
}
