package dev.hapax.messaging.kafka;

import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * A record that will never be handled.
 *
 * @param consumer the name of the consumer that rejected it
 * @param reason why, human-readable
 */
public record DeadLetter(ConsumerRecord<byte[], byte[]> record, String consumer, String reason) {}
