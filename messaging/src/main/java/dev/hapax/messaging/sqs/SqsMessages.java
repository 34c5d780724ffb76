package dev.hapax.messaging.sqs;

import dev.hapax.Hapax;
import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.messaging.JsonText;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Messages of SQS as messages of an {@link IdempotentConsumer}, and where their keys may come from. */
public final class SqsMessages {
    private SqsMessages() {}

    /**
     * Begins a consumer of messages, whose body is the content that a repeat must have too.
     *
     * @param name its name, and the scope of its operations, which must be declared
     */
    public static IdempotentConsumer.Builder<SqsMessage> consumer(String name, Hapax hapax) {
        return IdempotentConsumer.<SqsMessage>named(name, hapax)
                .payload(message -> message.body().getBytes(StandardCharsets.UTF_8));
    }

    /**
     * The key is what SQS called the message. It tells redeliveries, but not what a sender sends again: that is another
     * message to SQS.
     */
    public static Function<SqsMessage, @Nullable String> messageId() {
        return SqsMessage::messageId;
    }

    /** The key is the deduplication id, which SQS itself remembers for five minutes only. For FIFO queues. */
    public static Function<SqsMessage, @Nullable String> deduplicationId() {
        return SqsMessage::deduplicationId;
    }

    /** The key is in an attribute that the sender sets once per message, not once per send. */
    public static Function<SqsMessage, @Nullable String> attribute(String name) {
        return message -> message.attribute(name);
    }

    /**
     * The key is in the body, which is JSON: a text or a number. Needs {@code jackson-core}.
     *
     * @param pointer such as {@code /payment/id}, as in RFC 6901
     */
    public static Function<SqsMessage, @Nullable String> payload(String pointer) {
        JsonText text = JsonText.at(pointer);
        return message -> text.in(message.body().getBytes(StandardCharsets.UTF_8));
    }
}
