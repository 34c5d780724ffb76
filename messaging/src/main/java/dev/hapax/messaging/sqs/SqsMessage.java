package dev.hapax.messaging.sqs;

import dev.hapax.messaging.internal.StrictUtf8;
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

    /** The id that SQS gave the message when it was sent. */
    public String messageId() {
        return message.messageId();
    }

    public String body() {
        return message.body();
    }

    String receiptHandle() {
        return message.receiptHandle();
    }

    /** The group whose order it is part of; only in FIFO queues. */
    public @Nullable String groupId() {
        return message.attributes().get(MessageSystemAttributeName.MESSAGE_GROUP_ID);
    }

    /** The deduplication id that the sender chose; only in FIFO queues. */
    public @Nullable String deduplicationId() {
        return message.attributes().get(MessageSystemAttributeName.MESSAGE_DEDUPLICATION_ID);
    }

    /**
     * A message attribute of the sender's as text: strings and numbers as they are, binary values as UTF-8.
     *
     * @return {@code null} if there is no attribute of that name
     * @throws IllegalArgumentException when the attribute's bytes are not UTF-8; as a key, it makes the consumer reject
     *     the message
     */
    public @Nullable String attribute(String name) {
        MessageAttributeValue value = message.messageAttributes().get(name);
        if (value == null || value.binaryValue() == null) {
            return value == null ? null : value.stringValue();
        }
        return StrictUtf8.decode(value.binaryValue().asByteArrayUnsafe(), "attribute \"" + name + "\"");
    }

    /** How often SQS has delivered it, this time included; approximate. */
    public int receiveCount() {
        String count = message.attributes().get(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT);
        return count == null ? 1 : Integer.parseInt(count);
    }

    @Override
    public String toString() {
        return "SqsMessage[%s, group %s, received %d times]".formatted(messageId(), groupId(), receiveCount());
    }
}
