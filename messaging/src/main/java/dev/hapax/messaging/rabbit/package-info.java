/**
 * RabbitMQ: a consumer that acknowledges messages whose end is stored, and a publisher for outboxes. Needs
 * {@code amqp-client}.
 */
@NullMarked
package dev.hapax.messaging.rabbit;

import org.jspecify.annotations.NullMarked;
