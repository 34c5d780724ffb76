package dev.hapax.messaging.kafka;

import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * A record that will never be handled.
 *
 * @param consumer who rejected it
 * @param reason why, for people
 */
public record DeadLetter(ConsumerRecord<byte[], byte[]> record, String consumer, String reason) {}
