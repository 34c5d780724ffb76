/** The idempotent consumer on Kafka: a poll loop that owns the offsets. Needs {@code kafka-clients}. */
@NullMarked
package dev.hapax.messaging.kafka;

import org.jspecify.annotations.NullMarked;
