/** Amazon SQS: a consumer that deletes what is done with, and a publisher for outboxes. Needs the SDK's {@code sqs}. */
@NullMarked
package dev.hapax.messaging.sqs;

import org.jspecify.annotations.NullMarked;
