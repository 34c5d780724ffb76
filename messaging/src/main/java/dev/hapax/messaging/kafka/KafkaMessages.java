package dev.hapax.messaging.kafka;

import dev.hapax.Hapax;
import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.messaging.JsonText;
import dev.hapax.messaging.internal.StrictUtf8;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * Records as messages of an {@link IdempotentConsumer}, and where their keys may come from.
 *
 * <p>Records are bytes: a deserializer that fails inside of Kafka's consumer would stop the partition at that record
 * for good. Decode in the handler, and throw a {@link dev.hapax.TerminalFailure} for what cannot be decoded.
 */
public final class KafkaMessages {
    private KafkaMessages() {}

    /**
     * Begins a consumer of records, whose value is the content that a repeat must have too.
     *
     * @param name its name, and the scope of its operations, which must be declared
     */
    public static IdempotentConsumer.Builder<ConsumerRecord<byte[], byte[]>> consumer(String name, Hapax hapax) {
        return IdempotentConsumer.<ConsumerRecord<byte[], byte[]>>named(name, hapax)
                .payload(ConsumerRecord::value);
    }

    /** The key is in a header that the producer sets once per message, not once per send. */
    public static Function<ConsumerRecord<byte[], byte[]>, @Nullable String> header(String name) {
        return record -> {
            Header header = record.headers().lastHeader(name);
            return header == null ? null : text(header.value(), "header \"" + name + "\"");
        };
    }

    /** The key is the record's own key: for topics where that names an event, not an entity. */
    public static Function<ConsumerRecord<byte[], byte[]>, @Nullable String> recordKey() {
        return record -> text(record.key(), "the record's key");
    }

    /**
     * The key is in the value, which is JSON: a text or a number. Needs {@code jackson-core}.
     *
     * @param pointer such as {@code /payment/id}, as in RFC 6901
     */
    public static Function<ConsumerRecord<byte[], byte[]>, @Nullable String> payload(String pointer) {
        JsonText text = JsonText.at(pointer);
        return record -> record.value() == null ? null : text.in(record.value());
    }

    /**
     * The key is the record's position: topic, partition and offset. It recognises redeliveries, but not what a
     * producer sends again, which has another offset. A topic that is deleted and created anew has the same positions
     * again: its records are rejected while those before are remembered.
     */
    public static Function<ConsumerRecord<byte[], byte[]>, @Nullable String> position() {
        return RejectedRecordException::position;
    }

    private static @Nullable String text(byte @Nullable [] bytes, String what) {
        return bytes == null ? null : StrictUtf8.decode(bytes, what);
    }
}
