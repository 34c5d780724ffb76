package dev.hapax.messaging.rabbit;

import dev.hapax.Hapax;
import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.messaging.JsonText;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** RabbitMQ's messages as messages of an {@link IdempotentConsumer}, and where their keys may come from. */
public final class RabbitMessages {
    private RabbitMessages() {}

    /**
     * Begins a consumer of RabbitMQ's messages: the body is the content that a repeat must have as well. Default key:
     * the {@code message-id} property.
     *
     * @throws IllegalArgumentException unless the scope was declared
     */
    public static IdempotentConsumer.Builder<RabbitMessage> consumer(String name, Hapax hapax) {
        return IdempotentConsumer.<RabbitMessage>named(name, hapax)
                .key(RabbitMessage::messageId)
                .payload(RabbitMessage::body);
    }

    /** The {@code message-id} property: what the sender chose, and chooses again when it sends the message again. */
    public static Function<RabbitMessage, @Nullable String> messageId() {
        return RabbitMessage::messageId;
    }

    /**
     * The key is in the body, which is JSON: a text or a number. Needs {@code jackson-core}.
     *
     * @param pointer such as {@code /payment/id}, as in RFC 6901
     */
    public static Function<RabbitMessage, @Nullable String> payload(String pointer) {
        JsonText text = JsonText.at(pointer);
        return message -> text.in(message.body());
    }

    /** The key is in a header that the sender sets once per message, not once per send. */
    public static Function<RabbitMessage, @Nullable String> header(String name) {
        return message -> message.header(name);
    }
}
