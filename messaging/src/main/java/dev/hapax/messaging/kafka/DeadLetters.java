package dev.hapax.messaging.kafka;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.producer.Producer;

/**
 * Where rejected records go. A loop calls it on threads of its own, with the letters of one topic one after the other;
 * it must be safe for use by many threads. It may block, which delays letters of the same topic only.
 */
@FunctionalInterface
public interface DeadLetters {

    /**
     * Keeps a dead letter. The record is settled only once the stage has completed; if it fails, the record is rejected
     * again two seconds later. If it has failed with Kafka's {@code TimeoutException} by the time this returns, so have
     * the letters of the same topic that wait behind it. The same letter may come twice, after a crash.
     */
    CompletionStage<?> keep(DeadLetter letter);

    /**
     * Sends them to the topic {@code <topic>.dead-letters}, with all their headers and what {@link DeadLetterTopic}
     * adds.
     *
     * @param producer with {@code acks=all}, as is the default; not closed here
     */
    static DeadLetters toTopic(Producer<byte[], byte[]> producer) {
        return toTopic(producer, topic -> topic + ".dead-letters");
    }

    /** @param naming makes the topic for dead letters from the topic of the record */
    static DeadLetters toTopic(Producer<byte[], byte[]> producer, UnaryOperator<String> naming) {
        return new DeadLetterTopic(producer, naming);
    }

    /** Keeps none: the loop stops at the first rejected record, and its offset is not passed. */
    static DeadLetters stopping() {
        return letter -> CompletableFuture.failedFuture(new RejectedRecordException(letter));
    }
}
