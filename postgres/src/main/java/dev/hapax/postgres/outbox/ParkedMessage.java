package dev.hapax.postgres.outbox;

import dev.hapax.outbox.OutboxMessage;
import java.time.Instant;

/**
 * A message that is not retried until an operator decides, see {@link OutboxInspector}.
 *
 * @param createdAt when it was appended
 * @param attempts how often it was tried
 * @param reason why the last attempt failed
 */
public record ParkedMessage(OutboxMessage message, Instant createdAt, int attempts, String reason) {}
