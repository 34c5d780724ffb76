/**
 * RabbitMQ: a consumer that acknowledges what is done with, and a publisher for outboxes. Needs {@code amqp-client}.
 */
@NullMarked
package dev.hapax.messaging.rabbit;

import org.jspecify.annotations.NullMarked;
