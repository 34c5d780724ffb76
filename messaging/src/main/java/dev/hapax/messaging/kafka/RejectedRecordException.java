package dev.hapax.messaging.kafka;

import org.apache.kafka.clients.consumer.ConsumerRecord;

/** A record was rejected, and the consumer is set to stop then. */
public final class RejectedRecordException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient DeadLetter letter;

    RejectedRecordException(DeadLetter letter) {
        super("consumer %s rejected %s: %s".formatted(letter.consumer(), position(letter.record()), letter.reason()));
        this.letter = letter;
    }

    public DeadLetter letter() {
        return letter;
    }

    static String position(ConsumerRecord<?, ?> record) {
        return "%s-%d-%d".formatted(record.topic(), record.partition(), record.offset());
    }
}
