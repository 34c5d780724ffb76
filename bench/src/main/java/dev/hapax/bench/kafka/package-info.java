/** The idempotent Kafka consumer beside one that is written by hand, on the same broker and the same PostgreSQL. */
@NullMarked
package dev.hapax.bench.kafka;

import org.jspecify.annotations.NullMarked;
