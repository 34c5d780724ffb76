/** An outbox published as webhooks, in the form of Standard Webhooks. */
@NullMarked
package dev.hapax.messaging.webhook;

import org.jspecify.annotations.NullMarked;
