/**
 * Amazon SQS: a consumer that deletes messages whose end is stored, and a publisher for outboxes. Needs the SDK's
 * {@code sqs}.
 */
@NullMarked
package dev.hapax.messaging.sqs;

import org.jspecify.annotations.NullMarked;
